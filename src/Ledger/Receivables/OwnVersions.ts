/**
 * Which versions of a receivable a book follows. The interface does not say that its currency and its client stay: an amount in
 * another currency than the one that is booked must not be booked as if it were in it, and a borrower's loan must not stand
 * in two books. Plain functions of data.
 */
import { Option } from "effect"
import type { ReportedVersion } from "./ReceivableCash.ts"
import { isLive } from "./ReceivableVersion.ts"

export interface StatedVersion extends ReportedVersion {
  readonly currency: string
  readonly clientId: string
}

/** `client`: whose book it is, where a receivable stands in its client's. Without it all versions are the book's. */
export const ownVersions = (
  stated: ReadonlyArray<StatedVersion>,
  client: Option.Option<string>,
): { readonly currency: string; readonly versions: ReadonlyArray<ReportedVersion> } => {
  const isOwn = ({ clientId }: StatedVersion): boolean => Option.isNone(client) || clientId === client.value
  const first = stated.findIndex(isOwn)
  const since = first === -1 ? [] : stated.slice(first)
  // Once it is another client's, everything that stands in this book is taken back.
  const followed = since.map((one) => (isOwn(one) ? one : { ...one, status: "CANCELED" }))
  const currency = (followed.find(({ status }) => isLive(status)) ?? followed.at(-1))?.currency ?? ""
  return {
    currency,
    versions: followed.filter((one) => one.currency === currency || one.status === "CANCELED"),
  }
}
