/**
 * Reads XML as data: elements, attributes and text. Refuses constructs that may mean something else than their text (a document
 * type, CDATA, a comment, an entity beside the five of XML).
 */
import { must } from "./Booked.ts"
import { Unreadable } from "./LineCells.ts"

/** An element that has ended. */
export interface Element {
  /** From the root, with slashes: `Document/BkToCstmrStmt/Stmt/Id`. */
  readonly path: string
  readonly attributes: ReadonlyMap<string, string>
  /** Of an element without others in it. */
  readonly text: string
}

interface Open {
  readonly name: string
  readonly path: string
  readonly attributes: ReadonlyMap<string, string>
  text: string
  parent: boolean
}

const entities: ReadonlyMap<string, string> = new Map([
  ["lt", "<"],
  ["gt", ">"],
  ["amp", "&"],
  ["quot", '"'],
  ["apos", "'"],
])

const plain = (text: string): string => {
  must(!text.includes("<"), "a tag does not end")
  return text.replace(/&([^;]*;?)/g, (_, found: string) => {
    const known = found.endsWith(";") ? entities.get(found.slice(0, -1)) : undefined
    if (known === undefined) throw new Unreadable(`&${found} is no entity of XML`)
    return known
  })
}

const attribute = /^\s+([A-Za-z][\w:.-]*)="([^"<]*)"/

const attributesOf = (text: string): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  let rest = text
  while (rest !== "") {
    const [whole, name = "", value = ""] = attribute.exec(rest) ?? []
    if (whole === undefined) throw new Unreadable(`${JSON.stringify(rest)} is no attribute`)
    must(!found.has(name), `the attribute ${name} stands twice`)
    found.set(name, plain(value))
    rest = rest.slice(whole.length)
  }
  return found
}

const declaration = '<?xml version="1.0" encoding="UTF-8"?>'
const tagName = /^[A-Za-z][\w.-]*/
const deepest = 32

/** Takes the lines of a document and calls `ended` with every element in the order in which they end. */
export class XmlLines {
  private readonly open: Array<Open> = []
  private begun = false
  private roots = 0
  private readonly ended: (element: Element) => void

  constructor(ended: (element: Element) => void) {
    this.ended = ended
  }

  line(text: string): void {
    if (!this.begun) {
      this.begun = true
      must(text === declaration, "the first line does not say that it is XML in UTF-8")
      return
    }
    let at = 0
    while (at < text.length) {
      const next = text.indexOf("<", at)
      this.characters(text.slice(at, next < 0 ? text.length : next))
      if (next < 0) return
      const end = text.indexOf(">", next)
      must(end > 0, "a tag does not end on its line")
      this.tag(text.slice(next + 1, end))
      at = end + 1
    }
  }

  end(): void {
    must(this.begun && this.open.length === 0 && this.roots === 1, "the document does not end")
  }

  private characters(text: string): void {
    const current = this.open.at(-1)
    if (current === undefined || current.parent) must(text.trim() === "", "text stands between elements")
    else current.text += plain(text)
  }

  private tag(text: string): void {
    if (text.startsWith("/")) this.close(text.slice(1))
    else this.begin(text)
  }

  private begin(text: string): void {
    const [name = ""] = tagName.exec(text) ?? []
    must(name !== "", `<${text.slice(0, 20)}> is no element`)
    const parent = this.open.at(-1)
    if (parent === undefined) this.roots += 1
    else {
      must(parent.text.trim() === "", "text stands beside elements")
      parent.parent = true
    }
    must(this.open.length < deepest, "the elements are too deep")
    const path = parent === undefined ? name : `${parent.path}/${name}`
    this.open.push({ name, path, attributes: attributesOf(text.slice(name.length)), text: "", parent: false })
  }

  private close(name: string): void {
    const current = this.open.pop()
    if (current === undefined || current.name !== name) throw new Unreadable(`</${name}> ends no element`)
    const { attributes, parent, path, text } = current
    this.ended({ path, attributes, text: parent ? "" : text })
  }
}
