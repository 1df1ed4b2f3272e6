import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { formsOf, withoutSecrets } from "../../src/Common/SecretForms.ts"

const percentOf = (bytes: Buffer): string =>
  [...bytes].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("")

const escaped = (text: string, characters: RegExp, form: (character: string) => string): string =>
  [...text].map((character) => (characters.test(character) ? form(character) : character)).join("")

const unicodeOf = (character: string): string =>
  [...Array(character.length).keys()]
    .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`)
    .join("")

/** The forms in which a server may send a secret back. */
const writers: Readonly<Record<string, (secret: string) => string>> = {
  "as it is": (secret) => secret,
  "the form as we send it": (secret) => new URLSearchParams([["", secret]]).toString().slice(1),
  encodeURIComponent: (secret) => encodeURIComponent(secret),
  "in lower case, all but letters and digits": (secret) =>
    escaped(secret, /[^A-Za-z0-9]/u, (character) => percentOf(Buffer.from(character))),
  JSON: (secret) => JSON.stringify(secret).slice(1, -1),
  "Go's JSON": (secret) => escaped(JSON.stringify(secret).slice(1, -1), /[<>&\u2028\u2029]/u, unicodeOf),
  "PHP's JSON": (secret) =>
    escaped(JSON.stringify(secret).slice(1, -1), /[/\u0080-\u{10ffff}]/u, (character) =>
      character === "/" ? "\\/" : unicodeOf(character),
    ),
  "HTML, with names": (secret) =>
    secret.replace(
      /[&<>"]/g,
      (found) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[found] ?? "",
    ),
  "HTML, with numbers": (secret) =>
    escaped(secret, /[^A-Za-z0-9]/u, (character) => `&#${character.codePointAt(0)};`),
  "HTML, in hexadecimal": (secret) =>
    escaped(
      secret,
      /[^A-Za-z0-9]/u,
      (character) => `&#x${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()};`,
    ),
  "in percent, letters and digits too": (secret) => percentOf(Buffer.from(secret)),
  "a URL within a URL": (secret) => percentOf(Buffer.from(secret)).replaceAll("%", "%25"),
  "JSON, letters and digits too": (secret) => [...secret].map(unicodeOf).join(""),
  "a program's bytes": (secret) =>
    [...Buffer.from(secret)].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join(""),
  "HTML, letters and digits too": (secret) =>
    [...secret].map((character) => `&#${character.codePointAt(0)};`).join(""),
  hexadecimal: (secret) => Buffer.from(secret).toString("hex"),
  "hexadecimal, byte by byte": (secret) =>
    [...Buffer.from(secret)].map((byte) => byte.toString(16).padStart(2, "0").toUpperCase()).join(" "),
  "with what is not seen between": (secret) => [...secret].join("\u200b\u0000\u00ad"),
  base64: (secret) => Buffer.from(secret).toString("base64"),
  "base64 in a URL": (secret) => encodeURIComponent(Buffer.from(secret).toString("base64")),
  base64url: (secret) => Buffer.from(secret).toString("base64url"),
}

/** At least eight characters, as every secret has: shorter forms could by chance be parts of each other. */
const secrets = fc.oneof(
  fc.string({ minLength: 8, maxLength: 40 }),
  fc.string({ minLength: 8, maxLength: 20, unit: "grapheme" }),
)

describe("a secret that a server sends back", () => {
  it("is taken out together with its escapes", () => {
    expect(withoutSecrets('<\\"    \\u0026   >', formsOf('"    &   '))).toBe("<•••>")
    expect(withoutSecrets("<\\u003e       \\\\>", formsOf(">       \\"))).toBe("<•••>")
    // A digit's escape ends in the digit itself.
    for (const secret of ["7!!!!!!!", "30!!!!!!"]) {
      for (const name of ["in percent, letters and digits too", "JSON, letters and digits too"])
        expect(withoutSecrets(`<${writers[name]?.(secret)}>`, formsOf(secret))).toBe("<•••>")
    }
  })

  it("is taken out of base64 of its base64", () => {
    fc.assert(
      fc.property(secrets, (secret) => {
        const twice = Buffer.from(Buffer.from(secret).toString("base64")).toString("base64")
        // The ends of the base64 may belong to the bytes around it.
        expect(withoutSecrets(twice, formsOf(secret)).replace("•••", "").length).toBeLessThan(9)
      }),
    )
  })

  it.each(Object.entries(writers))("is taken out: %s", (_, written) => {
    fc.assert(
      fc.property(secrets, (secret) => {
        expect(withoutSecrets(`said: <${written(secret)}>`, formsOf(secret))).toBe("said: <•••>")
      }),
    )
  })

  it("is taken out of hexadecimal, wherever in something longer it begins", () => {
    const digits = fc.string({ maxLength: 3, unit: fc.constantFrom(..."0123456789abcdefABCDEF") })
    fc.assert(
      fc.property(secrets, digits, digits, (secret, before, after) => {
        const text = `<${before}${Buffer.from(secret).toString("hex")}${after}>`
        expect(withoutSecrets(text, formsOf(secret))).toMatch(/^<[\dA-Fa-f]?•••>$/)
      }),
    )
  })

  it("is taken out of the base64 of something longer", () => {
    fc.assert(
      fc.property(
        secrets,
        fc.string({ maxLength: 5 }),
        fc.string({ maxLength: 5 }),
        (secret, before, after) => {
          const text = Buffer.from(`${before}${secret}${after}`).toString("base64")
          const shown = withoutSecrets(text, formsOf(secret))
          expect(shown).toContain("•••")
          const left = shown.split("•••").map((part) => Buffer.from(part, "base64").toString("latin1"))
          expect(left.join("").includes(Buffer.from(secret).toString("latin1"))).toBe(false)
          // At most one byte of the secret is left at either end.
          expect(left.join("").length).toBeLessThanOrEqual(Buffer.byteLength(before + after) + 4)
        },
      ),
    )
  })

  it("is none where there is no secret, and leaves other text alone", () => {
    expect(formsOf("")).toEqual([])
    expect(withoutSecrets("the books are current", formsOf("s3cret-of-ours"))).toBe("the books are current")
  })
})
