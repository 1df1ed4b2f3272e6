/** README.md and docs/*.md as the tests read them: spans of code, fenced lines, links and headings. */
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, normalize } from "node:path"

export interface Document {
  readonly path: string
  readonly text: string
  /** Spans of code in their order, as a reader sees them. */
  readonly spans: ReadonlyArray<string>
  /** Lines of fenced blocks, by the language that the fence names. */
  readonly fenced: ReadonlyArray<{ readonly language: string; readonly line: string }>
}

const fence = /^```(\w*)\n([\s\S]*?)^```$/gm

const read = (path: string): Document => {
  const text = readFileSync(path, "utf8")
  const prose = text.replaceAll(fence, "")
  return {
    path,
    text,
    // A span may continue on the next line of its paragraph.
    spans: [...prose.matchAll(/`((?:[^`\n]|\n(?!\s*\n))+)`/g)].map(([, span = ""]) =>
      span.replaceAll(/\s*\n\s*/g, " ").replaceAll("\\|", "|"),
    ),
    fenced: [...text.matchAll(fence)].flatMap(([, language = "", block = ""]) =>
      block.split("\n").map((line) => ({ language, line })),
    ),
  }
}

export const documents: ReadonlyArray<Document> = [
  "README.md",
  "CONTRIBUTING.md",
  ...readdirSync("docs")
    .filter((name) => name.endsWith(".md"))
    .map((name) => join("docs", name)),
].map(read)

/** Texts that may hold a command line: spans, and lines of fences that are not data. A comment ends the command. */
export const commandTexts = ({ fenced, spans }: Document): ReadonlyArray<string> => [
  ...spans,
  ...fenced
    .filter(({ language }) => language === "sh" || language === "")
    .map(({ line }) => line.replace(/(^|\s)#.*$/, "")),
]

/** The anchor that a heading gets where Markdown is shown. */
const anchorOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-")

export const anchors = (text: string): ReadonlySet<string> =>
  new Set(
    [...text.replaceAll(fence, "").matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => anchorOf(heading)),
  )

export interface Link {
  /** Relative to the project's folder. */
  readonly target: string
  readonly anchor: string | undefined
}

/** Links and pictures that lead to files of the project. */
export const links = ({ path, text }: Document): ReadonlyArray<Link> =>
  [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = ""]) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [file = "", anchor] = target.split("#")
      return { target: file === "" ? path : normalize(join(dirname(path), file)), anchor }
    })
