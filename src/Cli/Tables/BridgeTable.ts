/** The bridge between the provider's statement and the books, as a table. */
import type { AccountBridge, Bridge } from "../../Close/Bridge.ts"
import type { LateEntry } from "../../Close/LateEntries.ts"
import { counted } from "../../Common/Text.ts"
import { table } from "../../Terminal/Table.ts"
import type { Screen } from "../../Terminal.ts"

const columns = [
  { title: "  Account", identifier: true },
  { title: "Cur" },
  { title: "Statement opening", align: "right" },
  { title: "Movements", align: "right" },
  { title: "Statement closing", align: "right" },
  { title: "Late, dated later", align: "right" },
  { title: "Earlier, dated later", align: "right" },
  { title: "Late, dated here", align: "right" },
  { title: "Opening booked", align: "right" },
  { title: "Books opening", align: "right" },
  { title: "Books moved", align: "right" },
  { title: "Books closing", align: "right" },
  { title: "Difference", align: "right" },
] as const

/** The difference of the closing balances, and that of the movements where it is not the same. */
const differenceText = ({ closingDifference, difference }: AccountBridge): string =>
  closingDifference === difference ? difference : `${closingDifference}, of the movements ${difference}`

const lateLine = (entry: LateEntry, what: string): string =>
  `  ${what}: ${entry.number ?? "without a number yet"}, ${entry.amount} ${entry.currency} on account ${entry.accountId}, occurred ${entry.occurredAt}, dated ${entry.effectiveDate}`

/** Every account, and every late entry. */
export const bridgeLines = (bridge: Bridge, screen: Screen): ReadonlyArray<string> => [
  ...(bridge.accounts.length === 0
    ? []
    : table(
        columns,
        bridge.accounts.map((account) => [
          `  ${account.accountId}`,
          account.currency,
          account.opening,
          account.movements,
          account.closing,
          account.lateElsewhere,
          account.carried,
          account.lateHere,
          account.openingBooked,
          account.booksOpening,
          account.booksMovements,
          account.booksClosing,
          differenceText(account),
        ]),
        screen,
      )),
  ...bridge.lateElsewhere.map((entry) => lateLine(entry, "late, dated later")),
  ...bridge.lateHere.map((entry) => lateLine(entry, `late for ${entry.lateFor}, dated here`)),
]

const isZero = (amount: string): boolean => !/[1-9]/.test(amount)

/** Whether the books differ from the statement in any way. */
const isApart = (account: AccountBridge): boolean =>
  [
    ...[account.difference, account.closingDifference, account.lateElsewhere, account.lateHere],
    ...[account.carried, account.openingBooked],
  ].some((amount) => !isZero(amount))

/** Late entries of either kind that are listed without --verbose. */
const mostLate = 20

/**
 * Only the accounts that differ from the statement by late entries, an opening balance or a difference, and the first late entries; the
 * others are counted.
 */
export const shortBridgeLines = (bridge: Bridge, screen: Screen): ReadonlyArray<string> => {
  const apart = bridge.accounts.filter(isApart)
  const same = bridge.accounts.length - apart.length
  const counts =
    same === 0
      ? []
      : [`  ${counted(same, "account")}: the books close as the provider's statement does, difference 0`]
  const shown = bridge.lateElsewhere.slice(0, mostLate)
  const shownHere = bridge.lateHere.slice(0, mostLate)
  const more = bridge.lateElsewhere.length + bridge.lateHere.length - shown.length - shownHere.length
  return [
    ...counts,
    ...bridgeLines({ ...bridge, accounts: apart, lateElsewhere: shown, lateHere: shownHere }, screen),
    ...(more === 0
      ? []
      : [`  … and ${counted(more, "late entry", "late entries")} more; --verbose lists them.`]),
  ]
}
