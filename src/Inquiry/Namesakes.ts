/**
 * A book has a cash account for each account of the service, which the chart names by the first digits of its identifier: where these are
 * those of another one, the whole identifier tells them apart.
 */
interface Named {
  readonly code: string
  readonly name: string
  readonly currency: string
  readonly partnerAccountId: string | null
}

const labelOf = ({ code, currency, name }: Named): string => JSON.stringify([code, name, currency])

/** The same rows, with the service's identifier behind the names that several of them have. */
export const toldApart = <A extends Named>(rows: ReadonlyArray<A>): ReadonlyArray<A> => {
  const seen = new Map<string, number>()
  for (const row of rows) seen.set(labelOf(row), (seen.get(labelOf(row)) ?? 0) + 1)
  return rows.map((row) =>
    row.partnerAccountId === null || seen.get(labelOf(row)) === 1
      ? row
      : { ...row, name: `${row.name} (${row.partnerAccountId})` },
  )
}
