/** The form that takes the token, for people; programs send `Authorization: Bearer`. */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import { Effect, Option } from "effect"
import { cookieName, isToken, sessionOf } from "./Guard.ts"
import * as Reply from "./HttpReply.ts"
import { loginPage } from "./Page/Frame.ts"

const largestForm = 4_096
/** The delay after a wrong token, against guessing. */
const penalty = "500 millis"
/** Seconds. */
const sessionLength = 12 * 60 * 60

/** `secure`: the browser came by TLS, through a proxy, and must never send the cookie without it. */
const cookie = (token: string, secure: boolean): string =>
  `${cookieName}=${sessionOf(token)}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${sessionLength}${secure ? "; Secure" : ""}`

export const login = Effect.fn("Serve.login")(function* (token: string) {
  const request = yield* HttpServerRequest.HttpServerRequest
  if (!/^application\/x-www-form-urlencoded\b/i.test(request.headers["content-type"] ?? "")) {
    return Reply.plain("The token is sent as a form.", 415)
  }
  // Checked before anything is read: an unwanted body is not waited for.
  const length = Number(request.headers["content-length"] ?? "NaN")
  if (!(length <= largestForm)) {
    return Reply.plain(`A token's form has at most ${largestForm} bytes.`, 413, { connection: "close" })
  }
  const body = yield* Effect.option(request.text)
  if (Option.isNone(body)) return Reply.plain("The form is incomplete.", 400, { connection: "close" })
  if (!isToken(new URLSearchParams(body.value).get("token") ?? "", token)) {
    yield* Effect.sleep(penalty)
    yield* Effect.logWarning("Somebody gave a wrong token to the status page.")
    return Reply.page(loginPage(true), 401)
  }
  const secure = request.headers["x-forwarded-proto"]?.toLowerCase() === "https"
  return Reply.seeOther("/", { "set-cookie": cookie(token, secure) })
})
