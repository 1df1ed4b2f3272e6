/** Judges the profile by an answer to a request that was made with it. Pure. */
import { Either } from "effect"
import { counted } from "../Common/Text.ts"
import type { Answer } from "../Partner/Attempt.ts"
import type { Malformed } from "../Partner/Lists/Page.ts"
import { mayBeCut, pathOf } from "../Partner/Lists/PageEnvelope.ts"
import type { PartnerError } from "../Partner/PartnerError.ts"
import { isFields } from "../Partner/Wire/Fields.ts"
import { type Decoder, decode, decodeAll } from "../Partner/Wire/RowDecoder.ts"
import { type Interface, isUnpaged, pagingOf, pagingSetting } from "../Settings/Interface.ts"
import { outcomeText } from "./Ask.ts"
import type { Endpoint, ListEndpoint } from "./Endpoints.ts"
import { type Finding, finding, wrong } from "./Finding.ts"
import { open, type Page } from "./OpenPage.ts"
import * as Shape from "./Shape.ts"

/** A refusal of a request for `endpoint`, whose path is `setting`. */
export const ofError = (error: PartnerError, endpoint: Endpoint, setting: string): Finding => {
  const detail = outcomeText(error)
  if (error.reason === "NotFound") {
    const advice = endpoint.dispensable
      ? `Set ${setting} to its path, or to null if the service has none.`
      : `Set ${setting} to its path${endpoint.guesses === null ? "" : "; tieout doctor --discover tries some"}.`
    const optional = endpoint.dispensable && endpoint.guesses !== null
    return finding("notThere", optional ? "warning" : "error", detail, { settings: [setting], advice })
  }
  if (error.reason === "Unavailable" || error.reason === "Timeout") {
    return finding("untried", "error", detail, { advice: error.advice })
  }
  const settings =
    error.reason === "Rejected"
      ? [setting]
      : error.reason === "TooLarge"
        ? ["interface.paging.size", "limits.maxBodyBytes"]
        : []
  return finding("wrong", "error", detail, { settings, advice: error.advice })
}

/** A path within a row, without names that look like data. */
const safePath = (path: string): string =>
  path
    .split(".")
    .map((part) => (part === "$" || Shape.isName(part.replace(/\[\d+\]$/, "")) ? part : "…"))
    .join(".")

const moneyPath = new RegExp(String.raw`^\$\.(${Shape.moneyKeys.join("|")})\.(\w+)$`)

/** The setting that an unreadable row contradicts, and what the row has instead. */
const moneySetting = (
  { path }: Malformed,
  rows: ReadonlyArray<unknown>,
  names: Interface["money"],
): { readonly setting: string; readonly advice: string } | undefined => {
  const [, money, inner] = moneyPath.exec(path) ?? []
  if (money === undefined) return undefined
  const objects = rows.map((row) => (isFields(row) ? row[money] : undefined)).filter(isFields)
  const candidates = objects.map(Shape.moneyFields)
  const explain = (setting: string, found: Shape.Agreement) => ({
    setting,
    advice:
      found.kind === "agreed"
        ? `Set ${setting} to ${found.name}.`
        : `Set ${setting} to what the service sends.`,
  })
  // A field that exists but has a wrong value is the row's fault, not the profile's.
  const missing = objects.some((object) => inner !== undefined && !Object.hasOwn(object, inner))
  if (!missing) return undefined
  if (inner === names.amountField) {
    const found = Shape.agree(
      candidates.map(({ amounts }) => amounts),
      "",
    )
    return explain("interface.money.amountField", found)
  }
  const found = Shape.agree(
    candidates.map(({ currencies }) => currencies),
    "",
  )
  return explain("interface.money.currencyField", found)
}

export interface Judged {
  readonly finding: Finding
  /** Undefined where the profile does not lead to it. */
  readonly page: Page | undefined
  /** The rows, even where only their identifiers could be read: they serve to try other endpoints. */
  readonly rows: ReadonlyArray<unknown>
}

const reasons = (malformed: ReadonlyArray<Malformed>): string => {
  const counts = new Map<string, number>()
  for (const { path, reason } of malformed) {
    const text = `${safePath(path)}: ${reason}`
    counts.set(text, (counts.get(text) ?? 0) + 1)
  }
  return [...counts]
    .slice(0, 5)
    .map(([text, count]) => (count === 1 ? text : `${text} (${count} rows)`))
    .join("; ")
}

/** Judges a list's answer: whether it can be opened, and its rows decoded as by a sync. */
export const ofList = (
  answer: Answer,
  endpoint: ListEndpoint,
  profile: Interface,
  setting: string,
  owner: string,
): Judged => {
  const opened = open(answer, profile, endpoint)
  if (Either.isLeft(opened)) {
    const [list] = Shape.lists(answer.value, endpoint.idField)
    return { finding: opened.left, page: undefined, rows: list?.known === true ? list.rows : [] }
  }
  const page = opened.right
  const judged = (finding: Finding): Judged => ({ finding, page, rows: page.rows })
  const paging = pagingOf(profile, endpoint.key)
  const path = pathOf(paging.itemsField)
  const read = decodeAll(endpoint.decoder(profile.money, owner), page.rows, answer.source, path)
  const malformed = read.filter(Either.isLeft).map(({ left }) => left)
  const rows = counted(page.rows.length, "row")
  const shape = Shape.describe(answer.value)
  if (page.rows.length === 0) {
    return judged(finding("ok", "none", "no rows, so whether they can be read is not known", { shape }))
  }
  if (isUnpaged(paging) && mayBeCut(page.rows.length, paging)) {
    const own = pagingSetting(profile, endpoint.key, "sizeParam")
    return judged(
      wrong(
        `${rows}, as many as were asked for, and nothing says whether more follow`,
        [own],
        `Set interface.lists.${endpoint.key}.sizeParam to null if this list always comes whole, or else a larger size there.`,
        answer,
      ),
    )
  }
  if (malformed.length === 0) {
    const more = page.hasNextPage ? "more pages follow" : "the only page"
    return judged(finding("ok", "none", `${rows}, all can be read; ${more}`, { shape }))
  }
  const detail = `${malformed.length} of ${rows} cannot be read: ${reasons(malformed)}`
  const money = malformed
    .map((row) => moneySetting(row, page.rows, profile.money))
    .find((found) => found !== undefined)
  if (money !== undefined) return judged(wrong(detail, [money.setting], money.advice, answer))
  if (malformed.length < page.rows.length) {
    const advice = "A sync puts such rows into quarantine; tell the partner."
    return judged(finding("ok", "warning", detail, { advice, shape }))
  }
  const isOther = page.rows.every((row) => !isFields(row) || !Object.hasOwn(row, endpoint.idField))
  const advice = isOther
    ? `These rows have no ${endpoint.idField}: set ${setting} to the path of that list.`
    : null
  return judged(wrong(detail, isOther ? [setting] : [], advice, answer))
}

const idOf = (value: unknown, idField: string): unknown => (isFields(value) ? value[idField] : undefined)

/** Judges one object's answer, which must have the identifier that was asked for. */
export const ofObject = (
  answer: Answer,
  endpoint: Endpoint,
  profile: Interface,
  setting: string,
  id: string,
): Finding => {
  const { source, value } = answer
  const decoder: Decoder<unknown> = endpoint.decoder(profile.money, "")
  const read = decode(decoder, value, () => source.text, source)
  if (Either.isLeft(read)) {
    const detail = `it cannot be read: ${reasons([read.left])}`
    const money = moneySetting(read.left, [value], profile.money)
    if (money !== undefined) return wrong(detail, [money.setting], money.advice, answer)
    const isOther = isFields(value) && !Object.hasOwn(value, endpoint.idField) && endpoint.idField !== ""
    return wrong(detail, isOther ? [setting] : [], null, answer)
  }
  const found = idOf(value, endpoint.idField)
  if (typeof found === "string" && found.toLowerCase() !== id.toLowerCase()) {
    return wrong("it is another one than was asked for", [setting], `Check ${setting}.`, answer)
  }
  return finding("ok", "none", "can be read", { shape: Shape.describe(value) })
}
