import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { sanitize } from "../../src/Partner/Sanitize.ts"
import { formsOf } from "../../src/Partner/SecretForms.ts"

describe("a secret that a server sends back", () => {
  it("is taken out in every form in which it was sent or may come", () => {
    // Eight characters at least, as every secret has: of fewer, one form could by chance be made of parts of another.
    fc.assert(
      fc.property(fc.string({ minLength: 8, maxLength: 40 }), (secret) => {
        const shapes = [
          secret,
          new URLSearchParams({ client_secret: secret }).toString(),
          encodeURIComponent(secret),
          JSON.stringify({ secret }),
          Buffer.from(secret).toString("base64"),
          Buffer.from(secret).toString("base64url"),
        ]
        for (const shape of shapes) {
          const shown = sanitize(`said: ${shape}.`, formsOf(secret), 400)
          for (const form of formsOf(secret)) expect(shown.includes(form)).toBe(false)
        }
      }),
    )
  })

  it("is none where there is no secret", () => {
    expect(formsOf("")).toEqual([])
  })
})
