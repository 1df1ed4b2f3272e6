/** The private server's answers, all with the same strict headers. */
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import type { Stream } from "effect"
import { styleHash } from "./Page/PageStyle.ts"

const strict: Readonly<Record<string, string>> = {
  "content-security-policy": `default-src 'none'; style-src '${styleHash}'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
  "cache-control": "no-store",
}

type Extra = Readonly<Record<string, string>>

const answer = (body: string, status: number, contentType: string, headers: Extra) =>
  HttpServerResponse.text(body, { status, contentType, headers: { ...strict, ...headers } })

export const page = (body: string, status = 200, headers: Extra = {}) =>
  answer(body, status, "text/html; charset=utf-8", headers)

export const plain = (body: string, status = 200, headers: Extra = {}) =>
  answer(`${body}\n`, status, "text/plain; charset=utf-8", headers)

/** Source: the exposition format of Prometheus, version 0.0.4. */
export const metrics = (body: string) => answer(body, 200, "text/plain; version=0.0.4; charset=utf-8", {})

/** The answer to a form: the browser requests the page again, and a reload does not resend the form. */
export const seeOther = (location: string, headers: Extra) =>
  HttpServerResponse.empty({ status: 303, headers: { ...strict, ...headers, location } })

const attached = (name: string, bytes: number): Extra => ({
  ...strict,
  "content-type": "application/octet-stream",
  "content-disposition": `attachment; filename="${name}"`,
  "content-length": String(bytes),
})

/** A file's bytes, as they come. */
export const downloadStream = <E>(body: Stream.Stream<Uint8Array, E>, name: string, bytes: number) =>
  HttpServerResponse.stream(body, { headers: attached(name, bytes) })

/** A file's bytes; `body` is a stream, or nothing where only the headers were asked for. */
export const download = (body: unknown, name: string, bytes: number) =>
  HttpServerResponse.raw(body, { headers: attached(name, bytes) })
