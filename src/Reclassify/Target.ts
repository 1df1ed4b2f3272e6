/** The account that a person names, and the amount that moves to it. */
import { and, desc, eq, or } from "drizzle-orm"
import { Array as Arr, Effect, Either, Schema } from "effect"
import type { Book } from "../Book.ts"
import * as Money from "../Common/Money.ts"
import { accounts } from "../Database/Tables/Ledger.ts"
import { Database } from "../Database.ts"
import type { RuleAccount } from "../Ledger/JournalEntry.ts"
import type { Role } from "../Ledger/Role.ts"
import { AccountCode, AccountName, codeForm, filled, nameForm } from "../Settings/Chart.ts"
import { Settings } from "../Settings.ts"
import type { ReclassifiableItem, StandingLine } from "./Reclassifiable.ts"
import { reclassifyError } from "./ReclassifyError.ts"

const clearing: ReadonlyArray<Role> = [
  "deposits_clearing",
  "withdrawals_clearing",
  "payouts_clearing",
  "other",
]

/** Whether a leg is still in transit: an amount that the whole conversion has taken can no longer be moved from the leg. */
const isInTransit = ({ amount, role }: StandingLine, inTransit: string | null): boolean => {
  if (role !== "conversions_in_transit" || inTransit === null) return false
  const leg = Money.fromTrusted(amount)
  const left = Money.subtract(Money.fromTrusted(inTransit), leg)
  // The leg is at most what stands there: the rest is zero or has the same sign.
  return Money.isZero(left) || Money.isPositive(left) === Money.isPositive(leg)
}

/** The part of a loan's cash that was not due, or is missing; the rest belongs to the receivable. */
const ofLoan = (line: StandingLine, inLoans: string | null): ReadonlyArray<StandingLine> =>
  line.role === "loan_clearing" && line.ruleCode === "" && inLoans !== null
    ? [{ ...line, amount: inLoans }]
    : []

/**
 * The amount that can be moved: the one in suspense; or else in a clearing account, in transit, in an account that a rule names
 * in their place, or in loan clearing as far as it is more or less than was due.
 */
export const movableLine = ({ entryId, inLoans, inTransit, lines, loanWaits }: ReclassifiableItem) => {
  const held = lines.filter(({ role }) => role === "suspense")
  const found =
    held.length > 0
      ? held
      : lines.flatMap((line) =>
          clearing.includes(line.role) || isInTransit(line, inTransit) ? [line] : ofLoan(line, inLoans),
        )
  const [line] = found
  if (line === undefined) {
    const where = lines.map(({ code, name }) => `${code} ${name}`).join(", ")
    if (loanWaits) {
      return Either.left(
        reclassifyError(
          "NothingThere",
          `Other cash of the loan of statement entry ${entryId} is still to come: until then it is unknown what of it was not due, and nothing is moved from ${where}. A close can accept the finding. See: tieout reconcile`,
        ),
      )
    }
    return Either.left(
      reclassifyError(
        "NothingThere",
        `Nothing of statement entry ${entryId} stands in suspense, in a clearing account or in transit, or is cash of a loan that was not due${where === "" ? "" : `; it stands in ${where}`}. See: tieout explain ${entryId}`,
      ),
    )
  }
  if (found.length > 1) {
    const parts = found.map(({ amount, code, currency }) => `${amount} ${currency} in ${code}`).join(", ")
    return Either.left(
      reclassifyError(
        "NothingThere",
        `Statement entry ${entryId} stands in several places or currencies (${parts}): it cannot be moved as one.`,
      ),
    )
  }
  return Either.right(line)
}

const isCode = Schema.is(AccountCode)
const isName = Schema.is(AccountName)

interface Known {
  readonly name: string
  /** The code by which rules and persons have it, with its placeholders; null: an account of the chart. */
  readonly ruleCode: string | null
  readonly cash: boolean
  /** The currency of an account of the books; null: a name from the settings, with placeholders. */
  readonly currency: string | null
}

type Called = Omit<Known, "ruleCode">

/** The name of an account in one currency, made from its name in another, which contains that currency. */
const nameIn = ({ currency: own, name }: Called, currency: string): string =>
  own === null
    ? name
    : name
        .split(":")
        .map((part) => (part === own ? currency : part))
        .join(":")

/** The name of an account to move to: one code has one name in all currencies. Left: what is wrong with `given`. */
export const nameOf = (
  known: ReadonlyArray<Called>,
  given: string | null,
  code: string,
  currency: string,
  client: string,
): Either.Either<string | undefined, string> => {
  const inBook = (name: string) => filled(name, currency, client)
  const [nearest] = known
  const usual = nearest === undefined ? undefined : nameIn(nearest, currency)
  if (given === null || usual === undefined) return Either.right(given ?? usual)
  return known.some((one) => inBook(nameIn(one, currency)) === inBook(given))
    ? Either.right(given)
    : Either.left(`--name: ${code} is ${inBook(usual)} already. Leave --name out, or choose another code.`)
}

/**
 * Names for a code, the nearest first: the book's account in the currency, the posting rules, whose account it is in all currencies, the
 * book's accounts in others, the chart.
 */
const knownAccounts = Effect.fn("Reclassify.knownAccounts")(function* (
  book: Book,
  code: string,
  currency: string,
) {
  const database = yield* Database
  const { chart, rules } = yield* Settings
  const rows = yield* database.orm("Reclassify.knownAccounts", (orm) =>
    orm
      .select({
        name: accounts.name,
        role: accounts.role,
        currency: accounts.currency,
        ruleCode: accounts.ruleCode,
      })
      .from(accounts)
      .where(and(eq(accounts.bookId, book.bookId), or(eq(accounts.code, code), eq(accounts.ruleCode, code))))
      .orderBy(desc(eq(accounts.currency, currency)), accounts.accountId),
  )
  const booked = rows.map(
    (account): Known => ({
      name: account.name,
      cash: account.role === "cash",
      currency: account.currency,
      ruleCode: account.ruleCode === "" ? null : account.ruleCode,
    }),
  )
  const ruled = rules
    .filter(({ account }) => account.code === code || filled(account.code, currency, book.code) === code)
    .map(
      ({ account }): Known => ({ name: account.name, cash: false, currency: null, ruleCode: account.code }),
    )
  const charted = Object.entries(chart)
    .filter(([, account]) => account.code === code)
    .map(([role, { name }]): Known => ({ name, cash: role === "cash", currency: null, ruleCode: null }))
  const [own, others] = Arr.partition(booked, (account) => account.currency !== currency)
  return [...own, ...ruled, ...others, ...charted]
})

/** What was found for a book and a currency, of one code: many entries have the same. */
export type KnownAccounts = Map<string, ReadonlyArray<Known>>

/** The account to move to. A new code needs `name`. */
export const targetOf = Effect.fn("Reclassify.targetOf")(function* (
  book: Book,
  entryId: string,
  from: StandingLine,
  code: string,
  name: string | null,
  alreadyKnown: KnownAccounts,
): Effect.fn.Return<
  RuleAccount,
  Effect.Effect.Error<ReturnType<typeof knownAccounts>> | ReturnType<typeof reclassifyError>,
  Database | Settings
> {
  if (!isCode(code)) {
    return yield* reclassifyError(
      "Usage",
      `--to: found ${JSON.stringify(code)}, expected an account code such as 6850, ${codeForm}.`,
    )
  }
  if (name !== null && !isName(name)) {
    return yield* reclassifyError(
      "Usage",
      `--name: found ${JSON.stringify(name)}, expected an account name such as Expenses:Fees, ${nameForm}.`,
    )
  }
  const standsThere = reclassifyError(
    "Usage",
    `--to: what statement entry ${entryId} moved stands in ${from.code} ${from.name} already.`,
  )
  if (code === from.code) return yield* standsThere
  const key = `${book.bookId} ${from.currency}`
  const known = alreadyKnown.get(key) ?? (yield* knownAccounts(book, code, from.currency))
  alreadyKnown.set(key, known)
  if (known.some(({ cash }) => cash)) {
    return yield* reclassifyError(
      "Usage",
      `--to: ${code} is a cash account, and cash is what the statement says: nothing can be moved to it.`,
    )
  }
  const chosen = nameOf(known, name, code, from.currency, book.code)
  if (Either.isLeft(chosen)) return yield* reclassifyError("Usage", chosen.left)
  // One account, whether by its code in the books or by that in the rules, whose placeholders are filled in there.
  const own = known.find(
    ({ currency, ruleCode }) => ruleCode !== null && (currency === null || currency === from.currency),
  )
  const to = own?.ruleCode ?? code
  if (from.ruleCode !== "" && to === from.ruleCode) return yield* standsThere
  if (chosen.right !== undefined) return { code: to, name: chosen.right }
  return yield* reclassifyError(
    "Usage",
    `--to: no account of book ${book.code} and no rule of the settings has the code ${code}. Name it: --name "Expenses:…"`,
  )
})
