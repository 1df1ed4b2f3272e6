import type { IncomingHttpHeaders } from "node:http"
import { Random } from "../World/Random.ts"
import type { Reply } from "./SandboxReply.ts"
import { failure, json } from "./SandboxReply.ts"

interface Settings {
  readonly clientId: string
  readonly clientSecret: string
  readonly expiresIn: number
  readonly now: () => number
}

/** Issues tokens for client credentials and knows which are still good. */
export class Tokens {
  #settings: Settings
  #random: Random
  #expiry = new Map<string, number>()

  constructor(settings: Settings, seed: number) {
    this.#settings = settings
    this.#random = new Random(seed ^ 0x70ce5)
  }

  /** Answers a token request: a form with all four parameters and no Authorization header. */
  issue(headers: IncomingHttpHeaders, body: string): Reply {
    const type = headers["content-type"] ?? ""
    if (!/^application\/x-www-form-urlencoded(\s*;|\s*$)/i.test(type)) {
      return failure(400, "invalid_request", "the token request must be application/x-www-form-urlencoded")
    }
    if (headers.authorization !== undefined) {
      return failure(400, "invalid_request", "the token request carries no Authorization header")
    }
    const form = new URLSearchParams(body)
    const missing = ["client_id", "client_secret", "grant_type", "scope"].filter((name) => !form.has(name))
    if (missing.length > 0) return failure(400, "invalid_request", `missing parameter: ${missing.join(", ")}`)
    if (form.get("grant_type") !== "client_credentials") {
      return failure(400, "unsupported_grant_type", "grant_type must be client_credentials")
    }
    const { clientId, clientSecret, expiresIn, now } = this.#settings
    if (form.get("client_id") !== clientId || form.get("client_secret") !== clientSecret) {
      return json(401, JSON.stringify({ error: "invalid_client" }))
    }
    this.#forgetExpired()
    const token = Array.from({ length: 4 }, () => this.#random.next().toString(36)).join(".")
    this.#expiry.set(token, now() + expiresIn * 1000)
    const scope = form.get("scope") ?? ""
    return json(
      200,
      JSON.stringify({ token_type: "Bearer", expires_in: expiresIn, scope, access_token: token }),
      { "cache-control": "no-store" },
    )
  }

  /** Whether an Authorization header carries a token that was issued here and has not expired. */
  accepts(authorization: string | undefined): boolean {
    if (authorization?.slice(0, 7).toLowerCase() !== "bearer ") return false
    const expiry = this.#expiry.get(authorization.slice(7))
    return expiry !== undefined && this.#settings.now() < expiry
  }

  /** Lets no token be good any more that was issued until now. */
  forget(): void {
    this.#expiry.clear()
  }

  #forgetExpired(): void {
    const now = this.#settings.now()
    for (const [token, expiry] of this.#expiry) if (expiry <= now) this.#expiry.delete(token)
  }
}
