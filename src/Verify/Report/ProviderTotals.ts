/** `account-reconciliation.csv` against the manifest's control totals, and against the cash of the trial balance. */
import type { Problems } from "../../Common/Problems.ts"
import type { Manifest } from "../../Export/Batch/Manifest/ReportManifest.ts"
import { exact } from "../../Format/Reading/Booked.ts"

/** A row's text by its column. */
type Cell = (column: string) => string

/** Of the trial balance, by the account's currency, code, name and role. */
type Balances = ReadonlyMap<string, { readonly opening: bigint; readonly closing: bigint }>

const file = "account-reconciliation.csv"

/** The lines of a file that say what the books have, and where the trial balance has it. */
const ofTheBooks = { "opening per books": "opening", "closing per books": "closing" } as const

const isOfTheBooks = (line: string): line is keyof typeof ofTheBooks => Object.hasOwn(ofTheBooks, line)

/** As the trial balance has an account. */
const cashKey = (cell: Cell): string =>
  [...["currency", "account_code", "account_name"].map(cell), "cash"].join("\n")

export class ProviderTotals {
  /** By the provider's account and line. */
  private readonly providers = new Map<string, Map<string, bigint>>()
  /** By the account of the books; several of the provider's may have one name there. */
  private readonly cash = new Map<string, { opening: bigint; closing: bigint }>()

  add(cell: Cell): void {
    const line = cell("line")
    const amount = cell("amount") === "" ? 0n : exact(cell("amount"), ".")
    const lines = this.providers.get(cell("provider_account")) ?? new Map<string, bigint>()
    this.providers.set(cell("provider_account"), lines)
    lines.set(line, (lines.get(line) ?? 0n) + amount)
    if (!isOfTheBooks(line)) return
    const sums = this.cash.get(cashKey(cell)) ?? { opening: 0n, closing: 0n }
    this.cash.set(cashKey(cell), sums)
    sums[ofTheBooks[line]] += amount
  }

  /** Once all files have been read. `balances`: the trial balance's, if it could be read. */
  finish({ accounts }: Manifest, balances: Balances | undefined, problems: Problems): void {
    const stated = new Set(accounts.map(({ accountId }) => accountId))
    for (const id of this.providers.keys()) {
      if (!stated.has(id)) problems.add(file, null, `the manifest has no account ${id}`)
    }
    for (const account of accounts) this.checkAccount(account, problems)
    if (balances !== undefined) this.compareCash(balances, problems)
  }

  private checkAccount(account: Manifest["accounts"][number], problems: Problems): void {
    const { accountId, carried, closing, datedLater, difference, opening, provider } = account
    const lines = this.providers.get(accountId)
    const is = (line: string, amount: string) => (lines?.get(line) ?? 0n) === exact(amount, ".")
    if (
      !(
        is("opening per books", opening) &&
        is("closing per books", closing) &&
        is("dated later by the books", datedLater) &&
        (carried === undefined || is("of earlier months, dated later by the books", carried)) &&
        is("provider's balance", provider) &&
        is("difference", difference)
      )
    ) {
      problems.add(file, null, `account ${accountId} has other figures than in the manifest`)
    }
    if ((lines?.get("movement") ?? 0n) !== exact(closing, ".") - exact(opening, ".")) {
      problems.add(
        file,
        null,
        `the movements of account ${accountId} do not lead from its opening to its closing`,
      )
    }
  }

  /** What the books have of the provider's accounts is the cash of the trial balance. */
  private compareCash(balances: Balances, problems: Problems): void {
    const none = { opening: 0n, closing: 0n }
    const keys = [...balances.keys()].filter((key) => key.endsWith("\ncash"))
    for (const key of new Set([...this.cash.keys(), ...keys])) {
      const [own, other] = [this.cash.get(key) ?? none, balances.get(key) ?? none]
      if (own.opening === other.opening && own.closing === other.closing) continue
      problems.add(file, null, `${key.replaceAll("\n", " ")} has other figures than in trial-balance.csv`)
    }
  }
}
