/** A number for each of a book's accounts, where the chart's code may stand for several of them. */
import type { Account } from "../Entry.ts"

/** The numbers that an account may have, from the shortest to one that distinguishes any two accounts. */
export const possibleNumbers = ({
  code,
  currency,
  name,
  partnerAccountId,
  role,
}: Omit<Account, "scale">): ReadonlyArray<string> => {
  const own = [code, currency].join("-")
  const [partner, short] = [partnerAccountId, partnerAccountId?.slice(0, 8)]
  return [
    short === undefined ? own : `${own}-${short}`,
    partner === null ? `${own}-${role}` : `${own}-${partner}`,
    partner === null ? `${own}-${role}-${name}` : `${own}-${partner}-${role}-${name}`,
  ]
}

/**
 * `1010-EUR-64e84b86`: the chart's code, the currency and, of an account of the service, the beginning of its identifier. The role,
 * the whole identifier or the name stands in it as well where two accounts would have the same number. It depends on what the
 * account is, never on how many there are before it.
 */
export const accountNumbers = (accounts: ReadonlyArray<Account>): ReadonlyMap<Account, string> => {
  const times = new Map<string, number>()
  for (const each of accounts.flatMap(possibleNumbers)) times.set(each, (times.get(each) ?? 0) + 1)
  return new Map(
    accounts.map((account) => {
      const all = possibleNumbers(account)
      return [account, all.find((number) => times.get(number) === 1) ?? all.at(-1) ?? account.code]
    }),
  )
}
