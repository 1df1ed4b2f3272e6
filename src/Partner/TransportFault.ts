/** Why a request got no answer, from what undici and TLS say of it. */
import { Data } from "effect"
import { NoTunnel } from "../Common/Proxy.ts"

type Timeout = "connectTimeout" | "headersTimeout" | "bodyTimeout" | "attemptTimeout"

/** `untrusted` (not the peer that was asked for, or a proxy that lets nobody through) does not heal by itself within a run; the others may. */
export class TransportFault extends Data.TaggedError("TransportFault")<{
  readonly kind: "untrusted" | "network" | "timeout" | "garbled" | "tooLarge" | "crowded"
  readonly detail: string
  /** What to do about it, if more is known than `kind` says. */
  readonly advice?: string
  /** The bound of `limits` that was reached. */
  readonly setting?: Timeout
}> {}

const timeouts: Readonly<Record<Timeout, string>> = {
  connectTimeout: "no connection within the connect timeout",
  headersTimeout: "no answer within the headers timeout",
  bodyTimeout: "the answer stopped midway",
  attemptTimeout: "no whole answer within the attempt timeout",
}

/** Undici's codes of its timeouts. */
const timeoutsByCode: Readonly<Record<string, Timeout>> = {
  UND_ERR_CONNECT_TIMEOUT: "connectTimeout",
  UND_ERR_HEADERS_TIMEOUT: "headersTimeout",
  UND_ERR_BODY_TIMEOUT: "bodyTimeout",
}

export const timedOut = (timeout: Timeout): TransportFault =>
  new TransportFault({ kind: "timeout", detail: timeouts[timeout], setting: timeout })

/** The errors that a server without TLS causes. */
const noTls = /^(?:ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG|ERR_SSL_HTTP_REQUEST|EPROTO)$/
/** Who signed a certificate is not known here; all else is wrong with the certificate itself. */
const unknownSigner = /SIGNED|UNABLE_TO_|ISSUER/
const certificateProblem = /CERT|^ERR_TLS|^ERR_SSL|SIGNED|UNABLE_TO_/

export const codeOf = (error: Error): string =>
  "code" in error && typeof error.code === "string" ? error.code : ""

export const faultOf = (error: Error, host: string, proxied: boolean): TransportFault => {
  if (error instanceof TransportFault) return error
  const code = codeOf(error)
  const timeout = timeoutsByCode[code]
  if (timeout !== undefined) return timedOut(timeout)
  if (noTls.test(code)) {
    return new TransportFault({
      kind: "untrusted",
      detail: `${host} answers, but not in TLS (${code})`,
      advice: "Check the port of the base address: it is one of plain http, or of a proxy",
    })
  }
  if (certificateProblem.test(code)) {
    return new TransportFault({
      kind: "untrusted",
      detail: `the TLS certificate of ${host} is not trusted (${code})`,
      advice: unknownSigner.test(code)
        ? "If a certificate authority of your own signed it, or a proxy that looks into TLS, start Tieout with NODE_EXTRA_CA_CERTS=/path/to/ca.pem; else it is not the service"
        : "Check that the base address is the service's, and this machine's clock",
    })
  }
  if (error instanceof NoTunnel) {
    return new TransportFault({
      kind: "network",
      detail: `the proxy does not connect to ${host}: ${error.message}`,
      advice: "Check that HTTPS_PROXY names a proxy, and that it lets this host through",
    })
  }
  if (proxied && error.message.startsWith("Proxy response")) {
    const [, status = "no success"] = /\((\d+)\)/.exec(error.message) ?? []
    return new TransportFault({
      kind: status === "407" || status === "403" ? "untrusted" : "network",
      detail: `the proxy does not connect to ${host}: it answers ${status}`,
      advice:
        status === "407"
          ? "Put user and password of the proxy into HTTPS_PROXY"
          : "Ask for a way through the proxy of HTTPS_PROXY, or list the host in NO_PROXY",
    })
  }
  if (code.startsWith("HPE_") || code === "UND_ERR_RES_CONTENT_LENGTH_MISMATCH") {
    return new TransportFault({ kind: "garbled", detail: `the answer is not sound HTTP (${code})` })
  }
  return new TransportFault({
    kind: "network",
    detail: `the connection to ${host}${proxied ? ", through the proxy of HTTPS_PROXY," : ""} failed (${code === "" ? error.name : code})`,
  })
}

export const tooLarge = (limit: number) =>
  new TransportFault({ kind: "tooLarge", detail: `the answer is larger than ${limit} bytes` })
