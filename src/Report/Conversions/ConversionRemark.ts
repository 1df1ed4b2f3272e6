/** Why a conversion has no effective rate in a month: it was returned, or its other leg is in another month. */

/** Amounts of the month with their currency; null: none. Months are `2026-11`, several joined by commas; null: none. */
export interface Legs {
  /** The service's status; null: it does not know the conversion. */
  readonly status: string | null
  /** Both legs are dated in the month. */
  readonly whole: boolean
  readonly sold: string | null
  readonly returned: string | null
  readonly bought: string | null
  readonly soldIn: string | null
  readonly returnedIn: string | null
  readonly boughtIn: string | null
}

const withoutBought: Readonly<Record<string, string>> = {
  COMPLETED: "the bought leg is not in the books: see exceptions.csv",
  CANCELED: "canceled, and what was sold has not been returned yet",
}

const ofSale = ({ boughtIn, returnedIn, status }: Legs): string => {
  if (boughtIn !== null) return `the bought leg is dated in ${boughtIn}`
  if (returnedIn !== null) return `returned: what was sold came back in ${returnedIn}`
  return withoutBought[status ?? ""] ?? "the bought leg has not come yet"
}

export const remarkOf = (legs: Legs): string | null => {
  const { bought, boughtIn, returned, sold, soldIn, status, whole } = legs
  if (status === null) return "the service does not give this conversion: see exceptions.csv"
  if (returned !== null && sold !== null)
    return `returned${whole ? " in part" : ""}: ${sold} sold, ${returned} returned`
  if (whole) return null
  if (returned !== null) return soldIn === null ? "returned" : `returned: it was sold in ${soldIn}`
  if (sold !== null) return ofSale(legs)
  if (bought !== null)
    return soldIn === null
      ? "the sold leg is not in the books: see exceptions.csv"
      : `the sold leg is dated in ${soldIn}`
  const months = [...new Set([soldIn, boughtIn].flatMap((month) => month ?? []))]
  return months.length === 0
    ? "neither leg is in the books"
    : `a fee only: the legs are dated in ${months.join(", ")}`
}
