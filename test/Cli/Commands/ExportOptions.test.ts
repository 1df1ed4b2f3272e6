import { Either, Option } from "effect"
import { describe, expect, it } from "vitest"
import { formatsIn, scopeOf } from "../../../src/Cli/Commands/Exporting/ExportOptions.ts"
import { formatNames } from "../../../src/Format/Formats.ts"

const scope = (options: {
  period?: string
  from?: string
  to?: string
  all?: boolean
  sinceLast?: boolean
}) => {
  const result = scopeOf({
    period: Option.fromNullable(options.period),
    from: Option.fromNullable(options.from),
    to: Option.fromNullable(options.to),
    all: options.all ?? false,
    sinceLast: options.sinceLast ?? false,
  })
  return Either.isRight(result) ? result.right : result.left.detail
}

describe("which entries to export", () => {
  it.each([
    [{ period: "2026-10" }, { kind: "period", period: "2026-10" }],
    [{ all: true }, { kind: "all" }],
    [{ sinceLast: true }, { kind: "since-last" }],
    [
      { from: "2028-02-29", to: "2028-02-29" },
      { kind: "range", from: "2028-02-29", to: "2028-02-29" },
    ],
    [{}, "Which entries? Expected one of --period, --from with --to, --all, --since-last."],
    [
      { all: true, period: "2026-10" },
      "More than one choice of entries. Expected one of --period, --from with --to, --all, --since-last.",
    ],
    [{ from: "2026-10-01" }, "--from and --to go together: both days are included."],
    [{ period: "2026-13" }, '--period: found "2026-13", expected a month as YYYY-MM, such as 2026-10.'],
    [{ period: "0000-10" }, '--period: found "0000-10", expected a month as YYYY-MM, such as 2026-10.'],
    [
      { from: "0000-10-01", to: "2026-03-01" },
      '--from: found "0000-10-01", expected a day as YYYY-MM-DD, such as 2026-10-31.',
    ],
    [
      { from: "2026-02-30", to: "2026-03-01" },
      '--from: found "2026-02-30", expected a day as YYYY-MM-DD, such as 2026-10-31.',
    ],
    [{ from: "2026-10-02", to: "2026-10-01" }, "--to 2026-10-01 is before --from 2026-10-02."],
  ])("%j", (options, expected) => expect(scope(options)).toEqual(expected))
})

describe("the formats", () => {
  it("may be named only once each, with spaces between them", () => {
    const named = formatsIn("--for", "journal, hledger,journal", formatNames)
    expect(Either.getOrThrow(named)).toEqual(["journal", "hledger"])
  })

  it.each([
    ["journal,xls,pdf", '"xls", "pdf"'],
    [",", "no format"],
  ])("refuse %s", (text, found) => {
    const result = formatsIn("--format", text, formatNames)
    expect(Either.isLeft(result) && result.left.detail).toBe(
      `--format: found ${found}, expected one or more of ${formatNames.join(", ")}.`,
    )
  })
})
