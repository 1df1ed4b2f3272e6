import { describe, expect, it } from "vitest"
import { Breaker } from "../../src/Partner/Pacing/Breaker.ts"
import { defaultTuning } from "../../src/Partner/ServiceLimits.ts"

const kind = "account"

const failing = (times: number): Breaker => {
  const breaker = new Breaker(defaultTuning)
  for (let failure = 0; failure < times; failure++) breaker.failed(0, breaker.admit(), 1, kind)
  return breaker
}

describe("Breaker", () => {
  it("[C6] stays closed below the threshold, and a success starts the count again", () => {
    const breaker = failing(4)
    expect(breaker.delay(0, kind)).toBe(0)
    breaker.succeeded()
    breaker.failed(0, false, 1, kind)
    expect(breaker.delay(0, kind)).toBe(0)
  })

  it("[C6] lets one probe through after a wait, and closes when it succeeds", () => {
    const breaker = failing(5)
    expect(breaker.delay(0, kind)).toBe(500)
    expect(breaker.delay(500, kind)).toBe(0)
    expect(breaker.admit()).toBe(true)
    expect(breaker.delay(500, kind)).toBe(Number.POSITIVE_INFINITY)
    breaker.succeeded()
    expect(breaker.delay(500, kind)).toBe(0)
    expect(breaker.admit()).toBe(false)
  })

  it("[C6] lets the next request probe where a probe had no result", () => {
    const breaker = failing(5)
    breaker.returned(breaker.admit())
    expect(breaker.delay(500, kind)).toBe(0)
  })

  it("[C6] refuses at once when several probes have failed, and tries again later", () => {
    const breaker = failing(10)
    expect(breaker.refuses(0, kind)).toBe(true)
    expect(breaker.refuses(20_000, kind)).toBe(false)
    expect(breaker.delay(20_000, kind)).toBe(0)
  })

  it("[C6] lets a thing of another kind probe at once: one that fails alone does not mean that the service is away", () => {
    const breaker = failing(10)
    expect(breaker.refuses(0, "statement")).toBe(false)
    expect(breaker.delay(0, "statement")).toBe(0)
    breaker.failed(0, breaker.admit(), 1, "statement")
    expect(breaker.refuses(0, "statement")).toBe(true)
    expect(breaker.delay(0, "deposit")).toBe(0)
    breaker.admit()
    expect(breaker.delay(0, "deposits")).toBe(Number.POSITIVE_INFINITY)
    expect(breaker.refuses(0, kind)).toBe(true)
    expect(breaker.opensIn(0)).toBe(20_000)
    breaker.succeeded()
    expect(breaker.delay(0, kind)).toBe(0)
  })

  it("[C6] allows few retries, and more as requests succeed", () => {
    const breaker = new Breaker(defaultTuning)
    const spend = () =>
      Array.from({ length: 100 }, () => breaker.spendRetry()).filter((isAllowed) => isAllowed)
    expect(spend()).toHaveLength(20)
    for (let success = 0; success < 8; success++) breaker.succeeded()
    expect(spend()).toHaveLength(2)
  })
})
