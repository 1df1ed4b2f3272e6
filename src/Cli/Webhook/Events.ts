import { Command, Options } from "@effect/cli"
import { Effect, Layer } from "effect"
import { table } from "../../Terminal/Table.ts"
import { counted } from "../../Terminal/Text.ts"
import type { Screen } from "../../Terminal.ts"
import { Inbox, type InboxCount } from "../../Webhook/Inbox.ts"
import { type ListedEvent, states } from "../../Webhook/InboxList.ts"
import { books, knownConnection } from "../Books.ts"
import { connection } from "../Options.ts"
import { Output } from "../Output.ts"

/** The latest of them; `counts` says how many there are. */
const listed = 100

const columns = [
  { title: "Received" },
  { title: "Connection" },
  { title: "Event" },
  { title: "Type", shrinks: true },
  { title: "State" },
  { title: "Tries", align: "right" as const },
  { title: "Note", shrinks: true },
]

const note = ({ conflict, error }: ListedEvent): string =>
  [conflict ? "came with several bodies" : "", error ?? ""].filter((text) => text !== "").join("; ")

const linesOf = (
  rows: ReadonlyArray<ListedEvent>,
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
    note(row),
  ])
  return [
    ...table(columns, cells, screen),
    "",
    ...counts.map(({ connection: name, conflicts, events: count, state }) =>
      [
        `${name}: ${counted(count, "event")} ${state}`,
        ...(conflicts > 0 ? [`${conflicts} of them with several bodies`] : []),
      ].join(", "),
    ),
  ]
}

export const events = Command.make(
  "events",
  { connection, state: Options.choice("state", states).pipe(Options.optional) },
  Effect.fn("Cli.webhook.events")(
    function* (wanted) {
      const output = yield* Output
      yield* knownConnection(wanted.connection)
      const inbox = yield* Inbox
      const rows = yield* inbox.list({ ...wanted, limit: listed })
      const counts = yield* inbox.counts()
      yield* output.report({
        document: { events: rows, counts },
        lines: linesOf(rows, counts, output.terminal.stdout),
      })
    },
    Effect.provide(Layer.provideMerge(Inbox.Default, books)),
  ),
)
