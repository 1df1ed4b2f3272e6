import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Identifiers } from "../../../src/Sandbox/World/Identifier.ts"

const word = fc.integer({ min: 0, max: 0xffffffff })

describe("the identifiers of the sandbox", () => {
  it("lead back to their index, and to nothing as another kind, below another count or by another seed", () => {
    fc.assert(
      fc.property(word, fc.integer({ min: 0, max: 0xfffffffe }), (seed, index) => {
        const ids = new Identifiers(seed)
        const id = ids.of("entry", index)
        expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
        expect(ids.indexOf("entry", id, index + 1)).toBe(index)
        expect(ids.indexOf("entry", id, index)).toBeUndefined()
        expect(ids.indexOf("deposit", id, 0xffffffff)).toBeUndefined()
        expect(new Identifiers((seed + 1) >>> 0).indexOf("entry", id, 0xffffffff)).toBeUndefined()
      }),
    )
  })

  it("are known only as a whole", () => {
    const ids = new Identifiers(1)
    const id = ids.of("deposit", 5)
    for (let place = 0; place < id.length; place++) {
      const other = id[place] === "7" ? "8" : "7"
      const changed = id.slice(0, place) + other + id.slice(place + 1)
      expect(ids.indexOf("deposit", changed, 1000), changed).toBeUndefined()
    }
  })
})
