import { Effect, Layer, Option } from "effect"
import { count, counted } from "../../../../Common/Text.ts"
import { table } from "../../../../Terminal/Table.ts"
import type { Screen } from "../../../../Terminal.ts"
import { Inbox } from "../../../../Webhook/Inbox.ts"
import { type InboxCount, type ListedEvent, states, type Wanted } from "../../../../Webhook/InboxList.ts"
import { booksToRead, knownConnection } from "../../../BookEnvironment.ts"
import { connection } from "../../../CommandOptions.ts"
import { choice, optional, subcommand, wholeNumber, withDefault } from "../../../Declaration.ts"
import { UsageError } from "../../../Failure.ts"
import { Output } from "../../../Output.ts"

const defaultLimit = 100
const highestLimit = 100_000

const columns = [
  { title: "Received" },
  { title: "Connection" },
  { title: "Event" },
  { title: "Type", shrinks: true },
  { title: "State" },
  { title: "Tries", align: "right" as const },
  { title: "Note", shrinks: true },
]

const noteOf = ({ conflict, error, note }: ListedEvent): string =>
  [conflict ? "came with several bodies" : "", error ?? "", note ?? ""]
    .filter((text) => text !== "")
    .join("; ")

/** How many events match, listed or not. */
const totalOf = (counts: ReadonlyArray<InboxCount>, wanted: Omit<Wanted, "limit">): number =>
  counts
    .filter(
      ({ connection: name, state }) =>
        !Option.exists(wanted.connection, (only) => only !== name) &&
        !Option.exists(wanted.state, (only) => only !== state),
    )
    .reduce((sum, row) => sum + row.events, 0)

const linesOf = (
  rows: ReadonlyArray<ListedEvent>,
  total: number,
  counts: ReadonlyArray<InboxCount>,
  screen: Screen,
): ReadonlyArray<string> => {
  if (rows.length === 0) return ["No such event has been received."]
  const cells = rows.map((row) => [
    row.receivedAt.slice(0, 19),
    row.connection,
    row.eventId,
    row.type ?? "",
    row.state,
    String(row.tries),
    noteOf(row),
  ])
  return [
    ...table(columns, cells, screen),
    ...(total > rows.length ? [`… and ${count(total - rows.length)} more, which --limit N shows.`] : []),
    "",
    ...counts.map(({ connection: name, conflicts, events: held, state }) =>
      [
        `${name}: ${counted(held, "event")} ${state}`,
        ...(conflicts > 0 ? [`${count(conflicts)} of them with several bodies`] : []),
      ].join(", "),
    ),
  ]
}

export const events = subcommand(
  {
    name: "events",
    takes: {
      connection,
      state: optional(
        choice(
          "state",
          "S",
          "Only events that are waiting, done, failed (tried again later), dead (given up) or poison (unreadable)",
          states,
        ),
      ),
      limit: withDefault(wholeNumber("limit", "N", "How many, the latest first"), defaultLimit),
    },
  },
  Effect.fn("Cli.webhook.events")(
    function* (wanted) {
      const output = yield* Output
      if (wanted.limit < 1 || wanted.limit > highestLimit) {
        return yield* new UsageError({
          detail: `--limit: found ${wanted.limit}, expected a whole number from 1 to ${highestLimit}.`,
          advice: "Leave it out to see the latest hundred.",
        })
      }
      yield* knownConnection(wanted.connection)
      const inbox = yield* Inbox
      const rows = yield* inbox.list(wanted)
      const counts = yield* inbox.counts()
      const total = Math.max(rows.length, totalOf(counts, wanted))
      yield* output.report({
        document: { events: rows, total, truncated: total > rows.length, counts },
        lines: () => linesOf(rows, total, counts, output.terminal.stdout),
      })
    },
    Effect.provide(Layer.provideMerge(Inbox.Default, booksToRead)),
  ),
)
