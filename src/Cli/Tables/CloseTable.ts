/** The output of `tieout close`: what is in the way and what to do about it, and whether a closed month still agrees. */
import type { Agreement } from "../../Close/Agreement.ts"
import type { BookClose, CloseState } from "../../Close/CloseBooks.ts"
import { count, counted, harmless, styled } from "../../Common/Text.ts"
import { wrapped } from "../../Common/Wrap.ts"
import { checks } from "../../Reconcile/Check.ts"
import type { Screen } from "../../Terminal.ts"
import { listOf } from "../FindingRanges.ts"
import { bridgeLines, shortBridgeLines } from "./BridgeTable.ts"

/** Listed of each check in the way, and of what was accepted, without --verbose; the rest is counted, and `--json` has all. */
export const mostListed = 20

const blockerLines = (
  blockers: BookClose["blockers"],
  verbose: boolean,
  { color, width }: Screen,
): ReadonlyArray<string> => {
  const seen = new Map<string, number>()
  const shown = blockers.filter(({ check = "" }) => {
    const at = (seen.get(check) ?? 0) + 1
    seen.set(check, at)
    return verbose || at <= mostListed
  })
  const more = [...seen].flatMap(([check, found]) =>
    verbose || found <= mostListed ? [] : `${count(found - mostListed)} more of ${check}`,
  )
  return [
    ...shown.flatMap(({ hint, id, what }) => {
      const name = id ?? "!"
      const [first = "", ...rest] = wrapped(`  ${name}  ${harmless(what)}`, width)
      return [
        `  ${styled(color, "red", name)}${first.slice(2 + name.length)}`,
        ...rest,
        `      ${harmless(hint)}`,
      ]
    }),
    ...(more.length === 0 ? [] : wrapped(`  … and ${more.join(", ")}; --verbose lists them.`, width)),
  ]
}

const acceptedLines = (
  accepted: BookClose["accepted"],
  verbose: boolean,
  { width }: Screen,
): ReadonlyArray<string> => {
  const shown = verbose ? accepted : accepted.slice(0, mostListed)
  return [
    ...shown.flatMap(({ id, reason, what }) =>
      wrapped(`  accepted ${id}: ${harmless(reason)} (${harmless(what)})`, width),
    ),
    ...(shown.length === accepted.length
      ? []
      : [`  … and ${count(accepted.length - shown.length)} more accepted.`]),
  ]
}

/** The most findings, or ranges of them, that the command line to accept them names. */
const mostNamed = 200

/** What to do about the findings in the way, by check, and how to close with them, all books at once. */
export const adviceLines = (results: ReadonlyArray<BookClose>, screen: Screen): ReadonlyArray<string> => {
  const found = results.flatMap(({ blockers }) => blockers)
  const names = new Set(found.flatMap(({ check }) => check ?? []))
  const todos = checks
    .filter(({ name }) => names.has(name))
    .flatMap(({ name, todo }) => wrapped(`  ${name}: ${todo}`, screen.width))
  const blocked = results.filter(({ blockers }) => blockers.some(({ id }) => id !== null))
  const [one] = blocked
  const ids = listOf(blocked.flatMap(({ blockers }) => blockers.flatMap(({ id }) => id ?? [])))
  const named = ids.slice(0, mostNamed).join(",")
  const more = ids.length > mostNamed ? ",…" : ""
  return [
    ...(todos.length === 0 ? [] : ["What to do:", ...todos]),
    ...(one === undefined
      ? []
      : [
          "To take responsibility for them as they are:",
          `  tieout close ${one.period}${blocked.length === 1 ? ` --book ${one.book}` : ""} --accept ${named}${more} --reason "…"`,
        ]),
  ]
}

const headline = ({ blockers, book, entries, period, state }: BookClose, { color }: Screen): string => {
  const name = `${book} ${period}`
  const texts: Readonly<Record<CloseState, string>> = {
    closed: styled(color, "green", `${name}: closed, ${counted(entries ?? 0n, "entry", "entries")}`),
    closable: styled(color, "green", `${name}: nothing is in the way of closing it`),
    blocked: styled(color, "red", `${name}: not closed, ${counted(blockers.length, "thing")} in the way`),
    "already closed": `${name}: closed already`,
  }
  return texts[state]
}

export const closeLines = (
  results: ReadonlyArray<BookClose>,
  verbose: boolean,
  screen: Screen,
): ReadonlyArray<string> =>
  results.flatMap((result) => [
    headline(result, screen),
    ...blockerLines(result.blockers, verbose, screen),
    ...acceptedLines(result.accepted, verbose, screen),
    ...(result.bridge === null ? [] : (verbose ? bridgeLines : shortBridgeLines)(result.bridge, screen)),
    ...result.notes.flatMap((note) => wrapped(`  ${harmless(note)}`, screen.width)),
    ...(result.hash === null
      ? []
      : [
          `  hash      ${result.hash}`,
          `  previous  ${result.previousHash ?? "none: the book's first close"}`,
        ]),
    "",
  ])

const archivedLine = ({ entries, file }: NonNullable<Agreement["archived"]>) =>
  `  ${counted(entries, "entry", "entries")} of it ${entries === 1 ? "is" : "are"} archived in ${harmless(file)}; the hash was proved before they left`

export const agreementLines = (agreement: Agreement, { color }: Screen): ReadonlyArray<string> => {
  const { accounts, archived, book, close, differences, hash, locked, period, renamed } = agreement
  if (locked !== null) return [`${book} ${period}: nothing is kept to check`, `  ${harmless(locked)}`]
  const by = close === null ? "" : `, closed on ${close.at} by ${harmless(close.who)}`
  const good = differences.length === 0
  return [
    styled(
      color,
      good ? "green" : "red",
      `${book} ${period}${by}: ${good ? "hash and balances agree" : "DOES NOT AGREE"}`,
    ),
    ...differences.map((difference) => `  ${harmless(difference)}`),
    ...renamed.map(({ closedAs, now }) => `  closed as ${harmless(closedAs)}, called ${harmless(now)} now`),
    ...(archived === null ? [] : [archivedLine(archived)]),
    `  ${hash}, ${counted(close?.entries ?? 0n, "entry", "entries")}, ${counted(accounts, "account")}`,
  ]
}
