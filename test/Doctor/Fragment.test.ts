import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { parse } from "yaml"
import { type Discovered, lines } from "../../src/Doctor/Fragment.ts"
import { defaultInterface } from "../../src/Settings/Interface.ts"

const discovered = (profile: Discovered["profile"], more: Partial<Discovered> = {}): Discovered => ({
  connection: "default",
  surfaces: ["organization"],
  configured: defaultInterface,
  profile,
  undetermined: [],
  ...more,
})

const withPaging = (paging: Partial<Discovered["profile"]["paging"]>) => ({
  ...defaultInterface,
  paging: { ...defaultInterface.paging, ...paging },
})

describe("a settings fragment", () => {
  it("holds what differs from the defaults, quoted as YAML needs it", () => {
    expect(lines([discovered(withPaging({ itemsField: "", sizeParam: null }))], false)).toEqual([
      "interface:",
      "  paging:",
      "    sizeParam: null",
      '    itemsField: ""',
    ])
  })

  it("holds a default where the settings have another value now", () => {
    const configured = withPaging({ cursorParam: "wrong" })
    expect(lines([discovered(defaultInterface, { configured })], false)).toEqual([
      "interface:",
      "  paging:",
      "    cursorParam: after",
    ])
  })

  it("has a section for each connection that needs one, and comments for the rest", () => {
    const undetermined = [
      { setting: "interface.paths.statement", reason: "there is\nnothing", blocking: true },
    ]
    const found = [
      discovered(withPaging({ size: 50 })),
      discovered(defaultInterface, { connection: "acme-uk", undetermined }),
    ]
    expect(lines(found, true)).toEqual([
      "connections:",
      "  default:",
      "    surfaces:",
      "      - organization",
      "    interface:",
      "      paging:",
      "        size: 50",
      "# acme-uk: interface.paths.statement could not be found out: there is\ufffdnothing",
    ])
  })

  it("parses to the proposed values, whatever the names", () => {
    const name = fc.string({ minLength: 1, maxLength: 12 }).filter((text) => text.trim() === text)
    fc.assert(
      fc.property(name, name, (itemsField, reason) => {
        const undetermined = [{ setting: "interface.money", reason, blocking: false }]
        const text = lines([discovered(withPaging({ itemsField }), { undetermined })], false).join("\n")
        const expected = itemsField === "items" ? null : { interface: { paging: { itemsField } } }
        expect(parse(text)).toEqual(expected)
      }),
    )
  })
})
