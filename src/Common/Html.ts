/** HTML as values. A template escapes everything that is not HTML itself; there is no other way in. */
import { harmless } from "./Text.ts"

export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Content = Html | string | number | null | undefined | ReadonlyArray<Html>

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
}

/** Text escaped for an element or a quoted attribute. Direction overrides and control characters become visible. */
const escaped = (text: string): string =>
  harmless(text).replace(/[&<>"']/g, (character) => entities[character] ?? character)

const textOf = (content: Content): string => {
  if (content === null || content === undefined) return ""
  if (content instanceof Html) return content.text
  if (typeof content === "string") return escaped(content)
  return typeof content === "number" ? String(content) : content.map(({ text }) => text).join("")
}

/** An HTML template. It must quote its attributes. */
export const html = (parts: TemplateStringsArray, ...contents: ReadonlyArray<Content>): Html =>
  new Html(parts.reduce((text, part, index) => text + textOf(contents[index - 1]) + part))
