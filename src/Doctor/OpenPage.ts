/** Opens a page of a list by the profile. Pure. */
import { Either } from "effect"
import type { Answer } from "../Partner/Attempt.ts"
import { itemsAt } from "../Partner/Lists/PageEnvelope.ts"
import { isFields } from "../Partner/Wire/Fields.ts"
import { type Interface, type ListName, pagingOf, pagingSetting } from "../Settings/Interface.ts"
import { type Finding, wrong } from "./Finding.ts"
import * as Shape from "./Shape.ts"

const quoted = (names: ReadonlyArray<string>): string => names.map((name) => JSON.stringify(name)).join(", ")

/** A list's page, read by the profile. */
export interface Page {
  readonly rows: ReadonlyArray<unknown>
  readonly hasNextPage: boolean
  readonly endCursor: string | undefined
}

/** How lists are paged. */
export type Paged = Pick<Interface, "lists" | "paging">

/** A list as far as opening its pages goes. */
export interface Opened {
  readonly key: ListName
  readonly idField: string
}

/** What to set where a page has something elsewhere: for all lists, or for this one. */
const settingAdvice = (
  profile: Paged,
  key: ListName,
  field: "itemsField" | "pageInfoField",
  paths: ReadonlyArray<string>,
): string | null => {
  if (paths.length === 0) return null
  const setting = pagingSetting(profile, key, field)
  const own = `interface.lists.${key}.${field}`
  const alone = setting === own ? "" : `, or ${own} where only this list differs`
  return `Set ${setting} to ${quoted(paths)}${alone}.`
}

/** Opens an answer by the profile, or says why it cannot. */
export const open = (
  answer: Answer,
  profile: Paged,
  { idField, key }: Opened,
): Either.Either<Page, Finding> => {
  const { value } = answer
  const paging = pagingOf(profile, key)
  const { itemsField, pageInfoField } = paging
  const rows = itemsAt(value, paging)
  if (!Array.isArray(rows)) {
    const setting = pagingSetting(profile, key, "itemsField")
    const paths = Shape.lists(value, idField).map(({ path }) => path)
    const hint = paths.length === 0 ? "the answer has no list" : `there is one at ${quoted(paths)}`
    const advice = settingAdvice(profile, key, "itemsField", paths)
    return Either.left(
      wrong(`there is no array at ${quoted([itemsField])}; ${hint}`, [setting], advice, answer),
    )
  }
  if (itemsField === "" || pageInfoField === null)
    return Either.right({ rows, hasNextPage: false, endCursor: undefined })
  const info = Shape.at(value, pageInfoField)
  if (!isFields(info) || typeof info.hasNextPage !== "boolean") {
    const setting = pagingSetting(profile, key, "pageInfoField")
    const paths = Shape.pageInfos(value)
    const hint = paths.length === 0 ? "there is none in the answer" : `there is one at ${quoted(paths)}`
    const advice =
      settingAdvice(profile, key, "pageInfoField", paths) ??
      `Ask the partner whether this list always comes whole; if so, set interface.lists.${key}.pageInfoField to null.`
    return Either.left(
      wrong(`there is no hasNextPage at ${quoted([pageInfoField])}; ${hint}`, [setting], advice, answer),
    )
  }
  const cursor = info.endCursor
  return Either.right({
    rows,
    hasNextPage: info.hasNextPage,
    endCursor: typeof cursor === "string" && cursor !== "" ? cursor : undefined,
  })
}
