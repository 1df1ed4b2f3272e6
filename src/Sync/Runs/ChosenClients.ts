/** The clients that a run is about, and what of each is handed out to workers. */
import { Effect, Option } from "effect"
import type { Book } from "../../Book.ts"
import { SettingsError } from "../../Settings.ts"
import type { BookTask } from "./BookJobs.ts"
import type { ListedClients, Served, StoppedClient } from "./Clients.ts"

const noClients: ListedClients = { books: [], inactive: [], stopped: [], unlisted: [] }

/** The clients that a run is about: all listed ones, or the named one. Fails if the service does not list that client. */
export const chosenOf = (listed: Option.Option<ListedClients>, named: Option.Option<string>) => {
  const { books, inactive, stopped, unlisted } = Option.getOrElse(listed, () => noClients)
  // A book keeps its code where the client gets another one, and may have had to take another from the start.
  const isWanted = (id: string, ...codes: ReadonlyArray<string>): boolean =>
    Option.match(named, {
      onNone: () => true,
      onSome: (text) => id === text.toLowerCase() || codes.includes(text),
    })
  const chosen = {
    named: books.filter(({ book, client }) => isWanted(client.id, client.code, book.code)),
    inactive: inactive.filter(({ code, id }) => isWanted(id, code)),
    unlisted: unlisted.filter(({ book, clientId }) => isWanted(clientId, book.code)),
    stopped,
  }
  const isNone = chosen.named.length + chosen.inactive.length + chosen.unlisted.length === 0
  return Option.isSome(listed) && Option.isSome(named) && isNone
    ? Effect.fail(
        new SettingsError({
          reason: "UnknownClient",
          mistakes: [`--client: the service lists no client ${JSON.stringify(named.value)}`],
          advice:
            "Name a client by its identifier, its code or the code of its book; where another connection has it, say so by --connection.",
        }),
      )
    : Effect.succeed(chosen)
}

/** The tasks by book. The first task of a book decides: a client that is neither read nor stopped may still have borrowed. */
export const tasksOf = (
  served: ReadonlyArray<Served>,
  stopped: ReadonlyArray<StoppedClient>,
  borrowers: ReadonlyArray<Book>,
): ReadonlyMap<number, BookTask> => {
  const all = [
    ...served.map((one): BookTask => ({ ...one, reads: true, stopped: Option.none() })),
    ...stopped.map(
      ({ book, clientId, detail }): BookTask => ({
        ...{ book, clientId, reads: false },
        stopped: Option.some(detail),
      }),
    ),
    ...borrowers.flatMap((book) =>
      Option.match(book.clientId, {
        onNone: () => [],
        onSome: (clientId): ReadonlyArray<BookTask> => [
          { book, clientId, reads: false, stopped: Option.none() },
        ],
      }),
    ),
  ]
  const tasks = new Map<number, BookTask>()
  for (const task of all) if (!tasks.has(task.book.bookId)) tasks.set(task.book.bookId, task)
  return tasks
}
