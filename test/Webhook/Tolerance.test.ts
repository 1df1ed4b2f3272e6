/** A delivery's age, by whichever time its signature covers and however that is written. */
import { Duration } from "effect"
import { describe, expect, it, vi } from "vitest"
import { latenessOf } from "../../src/Webhook/Tolerance.ts"

const tolerance = Duration.minutes(5)
const old = "its timestamp is older than interface.webhook.tolerance (5m)"
const none = "it has no timestamp, which interface.webhook.tolerance asks for"

const ago = (seconds: number): Date => new Date(Date.now() - seconds * 1_000)
const forms: Readonly<Record<string, (moment: Date) => string>> = {
  "ISO 8601": (moment) => moment.toISOString(),
  "an HTTP date": (moment) => moment.toUTCString(),
  seconds: (moment) => String(Math.floor(moment.getTime() / 1_000)),
  "seconds with decimals": (moment) => (moment.getTime() / 1_000).toFixed(3),
  milliseconds: (moment) => String(moment.getTime()),
  microseconds: (moment) => `${moment.getTime()}000`,
  nanoseconds: (moment) => `${moment.getTime()}000000`,
}

const bodyOf = (timestamp: unknown): Uint8Array => Buffer.from(JSON.stringify({ id: "1", timestamp }))
const late = (signedPayload: string, body: Uint8Array, headers: Readonly<Record<string, string>> = {}) =>
  latenessOf({ signedPayload, tolerance })({ body, header: (name) => headers[name] })

describe("[W6] a delivery's age", () => {
  it.each(Object.keys(forms))("is that of its event's timestamp as %s", (form) => {
    const text = (seconds: number) => forms[form]?.(ago(seconds))
    expect(late("{timestamp}.{body}", bodyOf(text(290)))).toBe(undefined)
    expect(late("{body}", bodyOf(text(310)))).toBe(old)
    // A clock that is ahead of ours makes nothing old.
    expect(late("{body}", bodyOf(text(-310)))).toBe(undefined)
  })

  it("is that of the header that is signed as its time, whatever its case, and not of the event", () => {
    const [now, then] = [ago(0).toISOString(), ago(310).toISOString()]
    for (const template of ["{header:X-Timestamp}.{body}", "{id}.{header:x-request-time}.{body}"]) {
      const name = template.includes("request") ? "x-request-time" : "x-timestamp"
      expect(late(template, bodyOf(then), { [name]: now })).toBe(undefined)
      expect(late(template, bodyOf(now), { [name]: then })).toBe(old)
      expect(late(template, bodyOf(now))).toBe(none)
    }
    expect(late("{header:X-Id}.{body}", bodyOf(now), { "x-id": then })).toBe(undefined)
  })

  it.each(["Asia/Kathmandu", "America/St_Johns"])(
    "is in UTC where its time has no zone, on a machine in %s",
    (zone) => {
      vi.stubEnv("TZ", zone)
      try {
        for (const mark of ["T", " "]) {
          const text = (seconds: number) => ago(seconds).toISOString().slice(0, 19).replace("T", mark)
          expect(late("{body}", bodyOf(text(290)))).toBe(undefined)
          expect(late("{body}", bodyOf(text(310)))).toBe(old)
        }
      } finally {
        vi.unstubAllEnvs()
      }
    },
  )

  it.each([[""], ["yesterday"], [undefined], [1_700_000_000], [null]])(
    "is unknown where its time is %j",
    (time) => {
      expect(late("{body}", bodyOf(time))).toBe(none)
    },
  )

  it("does not matter where no tolerance is set", () => {
    const body = bodyOf("yesterday")
    expect(latenessOf({ signedPayload: "{body}", tolerance: null })({ body, header: () => undefined })).toBe(
      undefined,
    )
  })
})
