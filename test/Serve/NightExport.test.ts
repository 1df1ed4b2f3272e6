import { expect, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import { checkNightExport } from "../../src/Serve/Nightly/NightExport.ts"
import { Settings } from "../../src/Settings.ts"

const checked = (variables: Record<string, string>) =>
  Effect.either(checkNightExport().pipe(Effect.provide(Settings.from({ variables }))))

it.effect("a format that no night could export is said at the start, as every other mistake is", () =>
  Effect.gen(function* () {
    const found = yield* checked({ TIEOUT_SCHEDULE_EXPORT: "[journal, sie]" })
    expect(Either.getLeft(found)).toMatchObject({
      value: {
        _tag: "SettingsError",
        mistakes: [expect.stringContaining("schedule.export: sie takes SEK alone")],
      },
    })
    const kronor = { TIEOUT_SCHEDULE_EXPORT: "[journal, sie]", TIEOUT_ACCOUNTING_BASE_CURRENCY: "SEK" }
    for (const fits of [kronor, { TIEOUT_SCHEDULE_EXPORT: "[journal, xero]" }, {}])
      expect(Either.isRight(yield* checked(fits))).toBe(true)
  }),
)
