/** The statuses of a client whose paths are open: `ACTIVE` by both surfaces, `APPROVED` as the credit surface's cases have it. */
export const readableClientStatuses: ReadonlyArray<string> = ["ACTIVE", "APPROVED"]

export const isReadableClient = ({ status }: { readonly status: string }): boolean =>
  readableClientStatuses.includes(status)
