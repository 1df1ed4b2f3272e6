/**
 * One request, one answer, whole or not at all. It speaks to undici's dispatcher directly: measured at 16 requests under
 * way on one machine, a small GET costs about 60 µs of processor time here, 125 µs through `undici.request`, 480 µs
 * through `fetch` and 700 µs through `@effect/platform`'s HttpClient over undici, and a sync makes a request per resource.
 */
import { isUtf8 } from "node:buffer"
import { gunzip, inflate } from "node:zlib"
import { Data, Effect, Option, Redacted, type Scope } from "effect"
import type { Dispatcher } from "undici"
// By its file, as `Undici.d.ts` explains.
import Agent from "undici/lib/dispatcher/agent.js"
import type { Bounds } from "./Bounds.ts"

export type Headers = Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

export interface Request {
  readonly method: "GET" | "POST"
  /** Below the origin, query included. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly body: Buffer
}

/** `untrusted` (not the peer that was asked for, or a proxy that lets nobody through) does not heal by itself within a run; the others may. */
export class TransportFault extends Data.TaggedError("TransportFault")<{
  readonly kind: "untrusted" | "network" | "timeout" | "garbled" | "tooLarge" | "crowded"
  readonly detail: string
  /** What to do about it, where more is known than `kind` says. */
  readonly advice?: string
}> {}

export interface Transport {
  /** Calls `done` once, later; gives what ends the request early. */
  readonly send: (request: Request, done: (result: Reply | TransportFault) => void) => () => void
}

const timeouts: Readonly<Record<string, string>> = {
  UND_ERR_CONNECT_TIMEOUT: "no connection within the connect timeout",
  UND_ERR_HEADERS_TIMEOUT: "no answer within the headers timeout",
  UND_ERR_BODY_TIMEOUT: "the answer stopped midway",
}

/** What a server answers that does not speak TLS. */
const noTls = /^(?:ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG|ERR_SSL_HTTP_REQUEST|EPROTO)$/
/** Who signed a certificate is not known here; all else is wrong with the certificate itself. */
const unknownSigner = /SIGNED|UNABLE_TO_|ISSUER/
const certificateProblem = /CERT|^ERR_TLS|^ERR_SSL|SIGNED|UNABLE_TO_/

const codeOf = (error: Error): string => ("code" in error && typeof error.code === "string" ? error.code : "")

const faultOf = (error: Error, host: string, proxied: boolean): TransportFault => {
  if (error instanceof TransportFault) return error
  const code = codeOf(error)
  const timeout = timeouts[code]
  if (timeout !== undefined) return new TransportFault({ kind: "timeout", detail: timeout })
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

const tooLarge = (limit: number) =>
  new TransportFault({ kind: "tooLarge", detail: `the answer is larger than ${limit} bytes` })

/** Bytes of all answers that are under way at the same time, in the largest that one may have. */
const answersUnderWay = 4

/** What is held of answers that are not whole yet. */
class Budget {
  private held = 0
  private readonly most: number

  constructor(most: number) {
    this.most = most
  }

  take(bytes: number): boolean {
    this.held += bytes
    return this.held <= this.most
  }

  give(bytes: number): void {
    this.held -= bytes
  }
}

const crowded = new TransportFault({
  kind: "crowded",
  detail: "too many large answers came at once",
})

/** Decompresses a body; the limit holds for the decoded bytes, so that a small body cannot grow into a large one. */
const unpack = (
  body: Buffer,
  encoding: string,
  limit: number,
  done: (result: Buffer | TransportFault) => void,
): void => {
  const finish = (error: Error | null, unpacked: Buffer) => {
    if (error === null) done(unpacked)
    else if (codeOf(error) === "ERR_BUFFER_TOO_LARGE") done(tooLarge(limit))
    else
      done(new TransportFault({ kind: "garbled", detail: "the compressed answer is damaged or cut short" }))
  }
  if (encoding === "" || encoding === "identity") done(body)
  else if (encoding === "gzip" || encoding === "x-gzip") gunzip(body, { maxOutputLength: limit }, finish)
  else if (encoding === "deflate") inflate(body, { maxOutputLength: limit }, finish)
  else
    done(
      new TransportFault({
        kind: "garbled",
        detail: "the answer comes in an encoding that was not asked for",
      }),
    )
}

/** Decoded bytes above which answers are decompressed one after the other. */
const largeAnswer = 1024 * 1024

/** What a gzip says at its end that it holds, modulo 2^32 (RFC 1952, 2.3.1); what is deflated does not say. */
const claimedSize = (body: Buffer, encoding: string): number =>
  encoding.endsWith("gzip") && body.length >= 18
    ? body.readUInt32LE(body.length - 4)
    : Number.POSITIVE_INFINITY

type Unpacked = (result: Buffer | TransportFault) => void

/**
 * Decompresses the answers of a connection: small ones at once, and large ones, or those that only said that they were small, one
 * after the other, with a turn of the event loop for the reader before the next. While it is decompressed an answer takes twice
 * its size, and a small body is soon a large one: of those there is one at a time.
 */
class Unpacker {
  private waiting: Array<() => void> = []
  private busy = false

  unpack(body: Buffer, encoding: string, limit: number, done: Unpacked): void {
    const claimed = claimedSize(body, encoding)
    if (encoding === "" || encoding === "identity") unpack(body, encoding, limit, done)
    else if (claimed > Math.min(largeAnswer, limit)) this.inTurn(body, encoding, limit, done)
    else {
      unpack(body, encoding, Math.max(claimed, 1), (result) => {
        if (result instanceof TransportFault && result.kind === "tooLarge")
          this.inTurn(body, encoding, limit, done)
        else done(result)
      })
    }
  }

  private inTurn(body: Buffer, encoding: string, limit: number, done: Unpacked): void {
    this.waiting.push(() =>
      unpack(body, encoding, limit, (result) => {
        done(result)
        setImmediate(() => {
          this.busy = false
          this.next()
        })
      }),
    )
    this.next()
  }

  private next(): void {
    if (this.busy) return
    const begin = this.waiting.shift()
    if (begin === undefined) return
    this.busy = true
    begin()
  }
}

/** Gathers one answer and calls `done` exactly once. */
class Gatherer implements Dispatcher.DispatchHandler {
  private readonly limit: number
  private readonly done: (result: Reply | TransportFault) => void
  private readonly host: string
  private readonly proxied: boolean
  private controller: Dispatcher.DispatchController | undefined
  private aborted: TransportFault | undefined
  private status = 0
  private headers: Headers = {}
  private readonly budget: Budget
  private readonly unpacker: Unpacker
  private chunks: Array<Buffer> = []
  private size = 0

  constructor(
    { host, proxied }: { readonly host: string; readonly proxied: boolean },
    limit: number,
    { budget, unpacker }: { readonly budget: Budget; readonly unpacker: Unpacker },
    done: (result: Reply | TransportFault) => void,
  ) {
    this.host = host
    this.proxied = proxied
    this.limit = limit
    this.budget = budget
    this.unpacker = unpacker
    this.done = done
  }

  private release(): void {
    this.budget.give(this.size)
    this.size = 0
    this.chunks = []
  }

  abort(fault: TransportFault): void {
    this.aborted ??= fault
    this.release()
    this.controller?.abort(fault)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller
    if (this.aborted !== undefined) controller.abort(this.aborted)
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    this.status = status
    this.headers = headers
    if (Number(headers["content-length"]) > this.limit) this.abort(tooLarge(this.limit))
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.aborted !== undefined) return
    this.size += chunk.length
    const fits = this.budget.take(chunk.length)
    if (this.size > this.limit) this.abort(tooLarge(this.limit))
    else if (!fits) this.abort(crowded)
    else this.chunks.push(chunk)
  }

  onResponseEnd(): void {
    const [first] = this.chunks
    const body = this.chunks.length === 1 && first !== undefined ? first : Buffer.concat(this.chunks)
    const encoding = String(this.headers["content-encoding"] ?? "").toLowerCase()
    this.release()
    this.unpacker.unpack(body, encoding, this.limit, (result) => {
      this.done(
        result instanceof TransportFault
          ? result
          : { status: this.status, headers: this.headers, body: result },
      )
    })
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.release()
    this.done(this.aborted ?? faultOf(error, this.host, this.proxied))
  }
}

const interrupted = new TransportFault({ kind: "network", detail: "given up" })

const pool = async (bounds: Bounds, proxy: Option.Option<Redacted.Redacted>): Promise<Dispatcher> => {
  const connect = { timeout: bounds.connectTimeout }
  const options = {
    connections: bounds.concurrency,
    pipelining: 1,
    headersTimeout: bounds.headersTimeout,
    bodyTimeout: bounds.bodyTimeout,
  }
  if (Option.isNone(proxy)) return new Agent({ ...options, connect })
  // A tunnel is asked for by a method that only the index gives dispatchers.
  const { ProxyAgent } = await import("undici")
  const uri = Redacted.value(proxy.value)
  return new ProxyAgent({ ...options, uri, proxyTls: connect, requestTls: connect })
}

/** Connections to one origin; redirects are never followed. The pool closes with the scope. */
export const make = (
  origin: string,
  bounds: Bounds,
  proxy: Option.Option<Redacted.Redacted> = Option.none(),
): Effect.Effect<Transport, never, Scope.Scope> => {
  const target = { host: new URL(origin).host, proxied: Option.isSome(proxy) }
  const shared = { budget: new Budget(answersUnderWay * bounds.maxBodyBytes), unpacker: new Unpacker() }
  return Effect.map(
    Effect.acquireRelease(
      Effect.promise(() => pool(bounds, proxy)),
      (agent) => Effect.promise(() => agent.destroy()),
    ),
    (agent): Transport => ({
      send: (request, done) => {
        const gatherer = new Gatherer(target, bounds.maxBodyBytes, shared, (result) => {
          clearTimeout(timer)
          done(result)
        })
        const timer = setTimeout(() => {
          const detail = "no whole answer within the attempt timeout"
          gatherer.abort(new TransportFault({ kind: "timeout", detail }))
        }, bounds.attemptTimeout)
        const { method, path, headers, body = null } = request
        agent.dispatch({ origin, method, path, headers, body }, gatherer)
        return () => {
          clearTimeout(timer)
          gatherer.abort(interrupted)
        }
      },
    }),
  )
}

/** The text of a body, and whether its bytes were UTF-8 (others became the replacement character). A byte order mark goes. */
export const textOf = (body: Buffer): { readonly text: string; readonly valid: boolean } => {
  const text = body.toString("utf8")
  return { text: text.charCodeAt(0) === 0xfeff ? text.slice(1) : text, valid: isUtf8(body) }
}
