/** What a round came to for an event: done, left to the next sync with a note, or to be tried again, and why. */
import { Option } from "effect"
import type { Book } from "../../Book.ts"
import { defaultTries } from "../../Webhook/Inbox.ts"
import { unreadText } from "../Runs/RunReport.ts"
import { keyOfAnnounced } from "./Announced.ts"
import type { Hinted } from "./EventBooks.ts"
import { keyOfResource } from "./EventHint.ts"
import { lasting, type ReadAgain, type Unread } from "./EventReader.ts"
import { noteOf } from "./UnknownEvents.ts"

export interface Outcome extends Hinted {
  /** What its book was read for, or why it is left to the next sync. */
  readonly note: Option.Option<string>
  /** Why its effect is not in the books; none if it is. */
  readonly why: Option.Option<Unread>
}

/**
 * An event of a client that cannot be read. One that names a movement or an account fails. One that names nothing known, such as
 * those of onboarding and availability, only says that something is to be looked at, and every sync looks at all clients.
 */
export const unreadable =
  (why: Unread, isOver: boolean) =>
  (one: Hinted): Outcome =>
    Option.match(one.hint.unknown, {
      onSome: (unknown) =>
        isOver || one.event.tries >= defaultTries
          ? {
              ...one,
              note: Option.some(`${unknown}: ${why.why}; left to the next sync`),
              why: Option.none(),
            }
          : { ...one, note: Option.none(), why: Option.some(why) },
      onNone: () => ({ ...one, note: Option.none(), why: Option.some(why) }),
    })

/** Why an event's effect is not in the books; none if it is. */
const whyUnbooked = ({ hint }: Hinted, read: ReadAgain): Option.Option<Unread> => {
  const [whole] = read.failures
  const ofAccount = Option.flatMap(hint.account, (id) => Option.fromNullable(read.accounts.get(id)))
  const ofResource = Option.flatMap(hint.resource, (key) =>
    Option.fromNullable(read.resources.get(keyOfResource(key))),
  )
  const ofWhole =
    whole !== undefined && (Option.isSome(hint.unknown) || hint.addressBook)
      ? Option.some({ ...whole, why: `${unreadText(whole)}: ${whole.why}` })
      : Option.none()
  return Option.orElse(ofAccount, () => Option.orElse(ofResource, () => ofWhole))
}

/** So often is an event tried whose effect is not shown: for a quarter of a minute. */
const triesUnshown = 5

const lackingOf = ({ hint }: Hinted, { lacking }: ReadAgain): Option.Option<string> =>
  Option.orElse(
    Option.flatMap(hint.resource, (key) => Option.fromNullable(lacking.get(keyOfResource(key)))),
    () =>
      Option.flatMap(hint.announced, (announced) =>
        Option.fromNullable(lacking.get(keyOfAnnounced(announced))),
      ),
  )

/** It may be shown in a moment. */
const unshown = (one: Hinted, why: string): Outcome =>
  one.event.tries < triesUnshown
    ? { ...one, note: Option.none(), why: Option.some(lasting(why)) }
    : { ...one, note: Option.some(`${why}: left to the next sync`), why: Option.none() }

/** `broken`: of the book nothing could be read. */
export const outcomeOf =
  (book: Book, read: ReadAgain, broken: boolean) =>
  (one: Hinted): Outcome => {
    const why = broken ? Option.fromNullable(read.failures[0]) : whyUnbooked(one, read)
    const lacking = Option.isNone(why) ? lackingOf(one, read) : Option.none()
    return Option.match(lacking, {
      onSome: (text) => unshown(one, text),
      onNone: () => ({ ...one, note: noteOf(one.hint, book), why }),
    })
  }

/** What cannot be told to be of a book that is read here. It is a hint: the next sync reads every book that there is. */
export const leftToSync = "it names no client, and the organization is not read: left to the next sync"

/** No sync reads their books either, and a book that is read but by events would lack everything else. */
export const ofOthers = "it is of a client, and this connection reads none"

export const leave = (hinted: ReadonlyArray<Hinted>, note: string): ReadonlyArray<Outcome> =>
  hinted.map((one) => ({ ...one, note: Option.some(note), why: Option.none() }))
