/** Names are compared as people read them. */
import { describe, expect, it } from "@effect/vitest"
import { foldedName } from "../../src/Close/Person.ts"

describe("a person's name", () => {
  it("is one name in any case, with any spaces and in any form of Unicode", () => {
    for (const name of [
      "zo\u00eb stra\u00dfe",
      " ZO\u00cb \t STRASSE\u00a0",
      "Zoe\u0308 Stra\u00dfe",
      "\uff3a\uff2f\u00cb\u3000Stra\u1e9ee",
      "Zo\u00eb\u200b Stra\u00ad\u00dfe\ufeff",
    ]) {
      expect(foldedName(name)).toBe("zo\u00eb strasse")
    }
    expect(foldedName("\u03a3\u03af\u03c3\u03c5\u03c6\u03bf\u03c2")).toBe(
      foldedName("\u03a3\u038a\u03a3\u03a5\u03a6\u039f\u03a3"),
    )
  })

  it("is another one with another letter, and none where nothing can be seen", () => {
    expect(foldedName("Zoe Strasse")).not.toBe(foldedName("Zo\u00eb Strasse"))
    expect(foldedName("Ada Jones")).not.toBe(foldedName("AdaJones"))
    expect(foldedName("\u200b\u2060\u3164")).toBe("")
  })
})
