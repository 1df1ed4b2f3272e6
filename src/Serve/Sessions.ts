/**
 * Browsers that have shown the token. A session is a random number that this process knows: it ends after twelve hours, when
 * its owner signs out, and with the process.
 */
import { createHash, randomBytes } from "node:crypto"
import { Effect } from "effect"
import { counted } from "../Common/Text.ts"
import { steadyMillis } from "../Common/Time.ts"

/** Seconds. */
const sessionLength = 12 * 60 * 60

/** The most sessions; one more ends the oldest. */
const mostSessions = 1_000

/** Browsers accept a cookie with this prefix only over TLS, and let no other host set it (RFC 6265bis, 4.1.3.2). */
const nameOf = (secure: boolean): string => `${secure ? "__Host-" : ""}tieout_status`

/**
 * Whether the browser came by TLS, through a proxy: then it must never send the cookie without it. Of several proxies each may
 * have added how it was reached, the browser's first.
 */
export const isSecure = (forwardedProto: string | undefined): boolean =>
  forwardedProto?.split(",")[0]?.trim().toLowerCase() === "https"

const flagsOf = (secure: boolean): string => `Path=/; HttpOnly; SameSite=Strict${secure ? "; Secure" : ""}`

type Cookies = Readonly<Record<string, string>>

export class Sessions {
  /** The digest of a session's number, and when it ends by the steady clock: the number itself is not kept. */
  private readonly ends = new Map<string, number>()

  private static digestOf(session: string): string {
    return createHash("sha256").update(session).digest("base64url")
  }

  /** Begins one; gives the `Set-Cookie` header. */
  begin(now: number, secure: boolean): string {
    for (const [digest, end] of this.ends) if (end <= now) this.ends.delete(digest)
    const [oldest] = this.ends.size < mostSessions ? [] : this.ends.keys()
    if (oldest !== undefined) this.ends.delete(oldest)
    const session = randomBytes(32).toString("base64url")
    this.ends.set(Sessions.digestOf(session), now + sessionLength * 1_000)
    return `${nameOf(secure)}=${session}; ${flagsOf(secure)}; Max-Age=${sessionLength}`
  }

  isOpen(cookies: Cookies, now: number, secure: boolean): boolean {
    const session = cookies[nameOf(secure)]
    return session !== undefined && (this.ends.get(Sessions.digestOf(session)) ?? 0) > now
  }

  /** Ends this one, or all; gives the `Set-Cookie` header that forgets it. */
  end(cookies: Cookies, everywhere: boolean, secure: boolean): string {
    if (everywhere) this.ends.clear()
    this.ends.delete(Sessions.digestOf(cookies[nameOf(secure)] ?? ""))
    return `${nameOf(secure)}=; ${flagsOf(secure)}; Max-Age=0`
  }
}

/** The least wait after a wrong token, milliseconds. */
const penalty = 500

/** All guesses together are answered at one per this many milliseconds. */
const betweenGuesses = 10

/**
 * If a guess would have to wait for more milliseconds than this, no token is examined, since waiting guesses take connections.
 */
const longestLine = 10_000

/**
 * Wrong tokens: all guesses wait in one queue, and each takes its time in it even if its sender does not stay for the answer. A
 * right token need not wait in the queue. While the queue is full no token is examined, because an immediate answer would tell
 * that a token is right.
 */
export class Guesses {
  /** When the last guess in the queue is answered, by the steady clock. */
  private lineEnds = Number.NEGATIVE_INFINITY
  private wrong = 0
  private turnedAway = 0

  /** Whether no token may be examined now; if so, it is counted. */
  readonly isFull: Effect.Effect<boolean> = Effect.map(steadyMillis, (now) => {
    const full = this.lineEnds - now >= longestLine
    if (full) this.turnedAway++
    return full
  })

  readonly wait: Effect.Effect<void> = Effect.flatMap(steadyMillis, (now) => {
    this.wrong++
    this.lineEnds = Math.max(this.lineEnds, now) + betweenGuesses
    return Effect.sleep(Math.max(penalty, this.lineEnds - now))
  })

  private readonly tell: Effect.Effect<void> = Effect.suspend(() => {
    const { turnedAway, wrong } = this
    this.wrong = 0
    this.turnedAway = 0
    const more = turnedAway === 0 ? "" : `, and turned away ${counted(turnedAway, "more token")} unseen`
    return wrong === 0
      ? Effect.void
      : Effect.logWarning(
          `The status page was shown ${counted(wrong, "wrong token")} in the last minute${more}. If that was not you, somebody is guessing.`,
        )
  })

  /** Logs wrong tokens once a minute until it is interrupted, and then the last ones. */
  readonly watch: Effect.Effect<never> = Effect.ensuring(
    Effect.forever(Effect.delay(this.tell, "1 minute")),
    this.tell,
  )
}

/** Keeps the sessions and the guesses for as long as the server runs. */
export interface Doorkeeper {
  readonly token: string
  readonly sessions: Sessions
  readonly guesses: Guesses
}

/** Whether a browser's session is open now. */
export const hasSession = (
  { sessions }: Doorkeeper,
  cookies: Cookies,
  forwardedProto: string | undefined,
): Effect.Effect<boolean> =>
  Effect.map(steadyMillis, (now) => sessions.isOpen(cookies, now, isSecure(forwardedProto)))
