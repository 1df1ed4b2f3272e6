/** The description in a line of an import file: a template over what the books and the service know about its movement. */
import { Schema } from "effect"
import type { Entry } from "../Entry.ts"

type Value = (entry: Entry) => string | null | undefined

/** By placeholder. */
const values = {
  kind: ({ kind }) => kind.replaceAll("_", " "),
  description: ({ description }) => description,
  counterparty: ({ counterparty }) => counterparty,
  reference: ({ payment }) => payment?.reference,
  purpose: ({ payment }) => payment?.purpose,
  externalReference: ({ externalReference }) => externalReference,
  transactionHash: ({ payment }) => payment?.transactionHash,
  number: ({ number }) => number,
  account: ({ lines }) => lines.find(({ account }) => account.role === "cash")?.account.name,
  resource: ({ resourceId }) => resourceId,
} satisfies Readonly<Record<string, Value>>

type Placeholder = keyof typeof values

const isPlaceholder = (name: string): name is Placeholder => Object.hasOwn(values, name)

const placeholders: ReadonlyArray<string> = Object.keys(values).map((name) => `{${name}}`)

/** Names of people, and free text that may hold them. */
const personal: ReadonlySet<Placeholder> = new Set<Placeholder>(["counterparty", "reference", "purpose"])

const wrongIn = (text: string): ReadonlyArray<string> => {
  const braces = text.match(/\{[^{}]*\}|[{}]/g) ?? []
  return braces.filter((found) => !isPlaceholder(found.slice(1, -1)))
}

/** A template as the settings have it; a placeholder that is none is refused with those that there are. */
export const Template = Schema.String.pipe(
  Schema.filter((text) => {
    const [wrong] = wrongIn(text)
    if (wrong?.length === 1)
      return `text whose braces hold a placeholder each, one of ${placeholders.join(" ")}, not a single ${wrong}`
    if (wrong !== undefined)
      return `text with no other placeholder than ${placeholders.join(" ")}, not ${wrong}`
    return /^[^\p{Cc}"]{0,200}$/u.test(text) ? undefined : "at most 200 characters without quotes"
  }),
)

/** Enough to match a payment; parts that a movement lacks leave no gap. */
export const defaultTemplate =
  "{description} / {counterparty} / {externalReference} / {reference} / {purpose} / {transactionHash}"

export interface DescribedFor {
  readonly personalData: boolean
  /** Whether the file can hold a text; a text that it cannot hold is left out by itself. */
  readonly isHoldable: (text: string) => boolean
}

/** Words, a placeholder, and the brackets that end with it. */
const part = /([^{}]*)\{(\w+)\}([)\]]*)/g

/**
 * The text of the template. If a placeholder is empty, or repeats an earlier one, the words before it and the brackets around
 * it are dropped, too.
 */
export const described = (
  template: string,
  entry: Entry,
  { isHoldable, personalData }: DescribedFor,
): string => {
  const valueOf = (name: string): string =>
    !isPlaceholder(name) || (personal.has(name) && !personalData) ? "" : (values[name](entry) ?? "")
  const seen = new Set<string>()
  let text = ""
  let after = 0
  let complete = true
  for (const { 0: whole, 1: before = "", 2: name = "", 3: behind = "", index } of template.matchAll(part)) {
    const value = valueOf(name)
    after = index + whole.length
    complete = value !== "" && !seen.has(value) && isHoldable(value)
    if (!complete) continue
    // The first placeholder with a value begins the text, unless the template itself begins with words.
    text += seen.size === 0 && index > 0 ? value : `${before}${value}${behind}`
    seen.add(value)
  }
  return complete ? text + template.slice(after) : text
}
