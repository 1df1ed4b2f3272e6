/** The form that takes the token, for people, and the one that signs out; programs send `Authorization: Bearer`. */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import { Effect, Either } from "effect"
import { steadyMillis } from "../Common/Time.ts"
import { isToken } from "./Guard.ts"
import * as Reply from "./HttpReply.ts"
import { loginPage } from "./Page/Frame.ts"
import { type Doorkeeper, isSecure } from "./Sessions.ts"

const largestForm = 4_096

/** The fields of a form, or the answer that refuses it. */
const formOf = (request: HttpServerRequest.HttpServerRequest) =>
  Effect.gen(function* () {
    if (!/^application\/x-www-form-urlencoded\b/i.test(request.headers["content-type"] ?? "")) {
      return Either.left(Reply.plain("This is sent as a form.", 415))
    }
    // Checked before anything is read: an unwanted body is not waited for.
    const length = Number(request.headers["content-length"] ?? "NaN")
    if (!(length <= largestForm)) {
      const text = `A form has at most ${largestForm} bytes.`
      return Either.left(Reply.plain(text, 413, { connection: "close" }))
    }
    return Either.mapBoth(yield* Effect.either(request.text), {
      onLeft: () => Reply.plain("The form is incomplete.", 400, { connection: "close" }),
      onRight: (text) => new URLSearchParams(text),
    })
  })

/** The answer while too many wrong tokens wait: no token is examined, right or wrong. */
export const tooManyGuesses = Reply.plain(
  "Too many wrong tokens are being tried. Try again later; open sessions stay signed in.",
  429,
  { "retry-after": "10", connection: "close" },
)

export const login = Effect.fn("Serve.login")(function* ({ guesses, sessions, token }: Doorkeeper) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const form = yield* formOf(request)
  if (Either.isLeft(form)) return form.left
  if (yield* guesses.isFull) return tooManyGuesses
  if (!isToken(form.right.get("token") ?? "", token)) {
    yield* guesses.wait
    return Reply.page(loginPage(true), 401)
  }
  const now = yield* steadyMillis
  const secure = isSecure(request.headers["x-forwarded-proto"])
  return Reply.seeOther("/", { "set-cookie": sessions.begin(now, secure) })
})

/** Ends the session of the request, or every session. */
export const logout = Effect.fn("Serve.logout")(function* ({ sessions }: Doorkeeper) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const form = yield* formOf(request)
  if (Either.isLeft(form)) return form.left
  const secure = isSecure(request.headers["x-forwarded-proto"])
  return Reply.seeOther("/", {
    "set-cookie": sessions.end(request.cookies, form.right.has("everywhere"), secure),
  })
})
