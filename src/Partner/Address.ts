import { Either } from "effect"

/** Where a connection's requests go, and the only place where they go. */
export interface Address {
  readonly origin: string
  /** The path of the base address, without a slash at the end. */
  readonly prefix: string
}

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(host)

/** Reads a base address; left is what is wrong with it. Bearer and secret would be readable on plain http. */
export const parse = (baseUrl: string): Either.Either<Address, string> => {
  if (!URL.canParse(baseUrl)) return Either.left("the base address is not a URL")
  const url = new URL(baseUrl)
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    return Either.left("the base address holds more than a host and a path")
  }
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback(url.hostname))) {
    return Either.left("the base address is not https (http is for this machine only)")
  }
  return Either.right({ origin: url.origin, prefix: url.pathname.replace(/\/+$/, "") })
}

const encoded = (id: string): string => encodeURIComponent(id).replaceAll(".", "%2E")

/** A path of the profile with its identifier filled in. */
export const fill = (template: string, id: string): string =>
  template.replace(/\{(?:id|accountId)\}/g, () => encoded(id))

/** A path of the profile without the parameters that it may have, for messages. */
export const bare = (path: string): string => path.split("?", 1)[0] ?? path

/** A path of the profile with a query (`?a=b`, or nothing) behind the parameters that it may have. */
export const asking = (path: string, query: string): string =>
  path.includes("?") ? path + query.replace("?", "&") : path + query

/** The path of a client's, with the client's identifier filled in. */
export const forClient = (template: string, clientId: string): string =>
  template.replaceAll("{clientId}", () => encoded(clientId))
