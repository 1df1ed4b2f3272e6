import { describe, expect, it } from "vitest"
import { encode, holds } from "../../src/Format/Encoding.ts"
import { textOf } from "../../src/Format/Reading/LineCells.ts"
import { numbered } from "../../src/Format/Table/Amount.ts"
import { fitted } from "../../src/Format/Table/CellText.ts"

describe("Windows-1252", () => {
  it("is that of every other program, byte for byte", () => {
    const decoder = new TextDecoder("windows-1252")
    for (let byte = 0; byte < 256; byte++) {
      const char = decoder.decode(Uint8Array.of(byte))
      // Five bytes have no character, and the decoder gives them controls.
      if (byte >= 0x80 && byte < 0xa0 && char.codePointAt(0) === byte)
        expect(holds(char, "windows-1252")).toBe(false)
      else expect([...encode(char, "windows-1252")]).toEqual([byte])
    }
  })

  it("never writes a question mark for what it lacks", () => {
    expect(holds("株", "windows-1252")).toBe(false)
    expect(() => encode("株", "windows-1252")).toThrow("is not in windows-1252")
    expect(() => encode("ä", "ascii")).toThrow("is not in ascii")
  })
})

describe("code page 437", () => {
  it("is read back by a table of its own, byte for byte", () => {
    for (let byte = 0x20; byte < 0xff; byte++) {
      if (byte === 0x7f) continue
      const text = textOf(Buffer.of(byte), "cp437")
      expect([...encode(text, "cp437")]).toEqual([byte])
    }
    // The standard's own letters.
    expect(encode("åäöÅÄÖé", "cp437").toString("hex")).toBe("8684948f8e9982")
    expect(() => textOf(Buffer.of(0xff), "cp437")).toThrow("does not break")
    expect(holds("€", "cp437")).toBe(false)
  })
})

describe("a text in an import file", () => {
  const ascii = { encoding: "ascii", most: 20 } as const
  it.each([
    ["Überweisung Straße", "Uberweisung Strasse"],
    ["=1+1", "1+1"],
    ["＝cmd", "cmd"],
    ["\t@-+x", "x"],
    ["株式会社", "deposit"],
    ["", "deposit"],
    ["Acme\r\nLtd", "Acme Ltd"],
    ["a text that is longer than its column", "a text that is"],
    ["a text that just fits", "a text that just"],
    ["a text that fits now", "a text that fits now"],
    ["a text that fits now and then", "a text that fits now"],
    ["'+quoted", "quoted"],
    ["an uncommonlylongwordwithoutgaps", "an uncommonlylongwor"],
    ["Invoice 1234567890123456", "Invoice"],
    ["an X12345678901234567890123", "an"],
    ["1234567890123456789012345", "deposit"],
  ])("%j is %j", (text, expected) => {
    expect(fitted(text, ascii, "deposit")).toBe(expected)
  })
})

describe("a text with characters that mean the same as others", () => {
  const inside = { most: 80 } as const
  it.each([
    // Where the file holds a character, it stands there as it came: 10² is not 102, nor 5½ 51⁄2.
    ["utf-8", "Lot 10² of 5½, Ａ①, ﬁ", "Lot 10² of 5½, Ａ①, ﬁ"],
    ["windows-1252", "Rock´n´Roll µ-Tec ½ AG, 10²", "Rock´n´Roll µ-Tec ½ AG, 10²"],
    ["cp437", "µ-Tec ½ AG, 10²", "µ-Tec ½ AG, 10²"],
    // Where it does not, its plain form does, unless that would be another number.
    ["windows-1252", "Ａ＝Ｂ ﬁ １２", "A=B fi 12"],
    ["cp437", "O’Brien – “Söner” ´x", "O'Brien - \"Söner\" 'x"],
    ["ascii", "„Rock´n´Roll“ … № 7", "\"Rock'n'Roll\" ... No 7"],
    ["windows-1252", "10⁷ Lot", "deposit"],
    ["ascii", "Lot 10²", "deposit"],
    ["ascii", "5½", "deposit"],
    // Letters and their marks are one character.
    ["windows-1252", "Mu\u0308ller", "Müller"],
    ["utf-8", "Mu\u0308ller", "Müller"],
    ["utf-8", "＝＋－＠x", "x"],
    // No number is cut, whatever its digits.
    ["utf-8", `${"x".repeat(10)} ${"٣".repeat(80)}`, "x".repeat(10)],
  ] as const)("in %s %j is %j", (encoding, text, expected) => {
    expect(fitted(text, { ...inside, encoding }, "deposit")).toBe(expected)
  })
})

describe("a text with characters of two units", () => {
  it.each([
    ["🎉🎉🎉 longer than its col", "🎉🎉🎉 longer than"],
    ["🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉", "🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉"],
    ["a🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉", "a🎉🎉🎉🎉🎉🎉🎉🎉🎉"],
  ])("%j is %j", (text, expected) => {
    const own = fitted(text, { encoding: "utf-8", most: 20 }, "deposit")
    expect(own).toBe(expected)
    expect(own.length).toBeLessThanOrEqual(20)
  })
})

describe("a journal number in few characters", () => {
  it.each([
    ["ORG-2026-10-000007", 80, "ORG-2026-10-000007"],
    ["ORG-2026-10-000007", 22, "ORG-2026-10-000007"],
    ["ORG-2026-10-000007", 21, "ORG-2610-000007"],
    ["ORG-2026-10-1000007", 21, "ORG-2610-1000007"],
    ["ACME_UK.LTD-2026-10-000007", 36, "ACME-UK-LTD-2026-10-000007"],
    ["ACME-UK-ORG-2026-10-000007", 21, "AC164F-2610-000007"],
    ["CLIENT-2026-10-000006", 20, "CLIENT-2610-000006"],
    ["CLIENT-2026-10-1000006", 20, "CLIENT-2610-1000006"],
  ])("%s in %i is %s", (number, most, expected) => {
    expect(numbered(number, most, false)).toBe(expected)
    expect(numbered(number, most, true)).toBe(`${expected}S`)
  })

  it("has the book's whole code where every character is taken, and a checksum where the mark of a summary has no room", () => {
    expect(numbered("CL-00001-2026-10-000006", 20, false)).toBe("CL-00001-2610-000006")
    expect(numbered("CL-00001-2026-10-000006", 20, true)).toBe("C8A12-2610-000006S")
    expect(numbered("CL-00001-2026-10-1000006", 20, false)).toBe("C8A12-2610-1000006")
  })
})
