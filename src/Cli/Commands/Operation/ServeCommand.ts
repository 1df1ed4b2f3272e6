import { Effect, Layer, Option } from "effect"
import { onNewerNode } from "../../../Jobs/Boss.ts"
import { Ledger } from "../../../Ledger.ts"
import { checkSettings, parts, serve as run, type ServeOptions } from "../../../Serve.ts"
import { Settings } from "../../../Settings.ts"
import { Events } from "../../../Sync/Events.ts"
import { Sync } from "../../../Sync.ts"
import { Inbox } from "../../../Webhook/Inbox.ts"
import { booksToServe, needingAllSecrets, newBooksForSync } from "../../BookEnvironment.ts"
import { command, flag, optional, wholeNumber } from "../../Declaration.ts"
import { UsageError } from "../../Failure.ts"
import { Output } from "../../Output.ts"
import { reloadable } from "../../Reload.ts"
import { assisted, unassisted } from "../../Workers.ts"

/** A separate database service whose plans suit a sync; pages and exports use one with ordinary plans. */
const syncs = Layer.fresh(
  Layer.provide(
    Layer.provideMerge(Layer.merge(Sync.Default, Events.Default), Inbox.Default),
    Layer.provideMerge(Ledger.Default, newBooksForSync),
  ),
)

const services = Layer.provideMerge(parts, Layer.provideMerge(syncs, booksToServe))

/** Fails before anything is started. */
const checkPort = (port: Option.Option<number>) =>
  Option.exists(port, (found) => found < 0 || found > 65_535)
    ? new UsageError({
        detail: `--status-port: found ${Option.getOrElse(port, () => 0)}, expected a port, a whole number from 0 to 65535.`,
        advice: "Leave it out to use status.port; 0 is any free port.",
      })
    : Effect.void

const serving = (options: ServeOptions, handOut: boolean) =>
  reloadable(
    ({ before, started }) =>
      Effect.flatMap(Settings, ({ connectionNames, schedule }) => {
        const all = run(
          options,
          Effect.zipRight(
            Effect.logInfo(
              `Serving ${connectionNames.join(", ")}; ${schedule.nightly === null ? "nothing runs by itself" : `the nightly sync is due at "${schedule.nightly}"`}.`,
            ),
            started,
          ),
          before,
        )
        return handOut ? assisted(0, all) : unassisted(all)
      }).pipe(Effect.provide(services)),
    checkSettings(),
  ).pipe(needingAllSecrets)

export const serve = command(
  {
    name: "serve",
    summary: "Run by itself: the nightly sync, events, the status page, metrics and alerts in one process.",
    about: [
      "Syncs every connection at schedule.nightly (in accounting.timeZone), and at once where the last time was missed; then",
      "exports what is new in the formats of schedule.export. The status page is at http://127.0.0.1:8788/, with /healthz,",
      "/readyz and /metrics beside it; elsewhere than on loopback (status.host) it asks for TIEOUT_STATUS_TOKEN.",
      "Events are received on webhook.port, proved, kept and then acknowledged; what they name is read and booked at once.",
      "Ends with 0 on SIGTERM or SIGINT, after at most ten seconds. The log is JSON unless it is read on a terminal.",
      "With --hand-out the clients' books of a night, and of events, are read by tieout worker processes (Node 22.12 or newer).",
      "SIGHUP makes it read the settings, and the secrets that stand in files, again, without losing a delivery.",
    ],
    takes: {
      noWebhook: flag("no-webhook", "Without the public listener for events"),
      handOut: flag("hand-out", "Hand clients' books to tieout worker processes, which run elsewhere"),
      statusPort: optional(
        wholeNumber(
          "status-port",
          "N",
          "Where the private server listens, instead of status.port; 0: any free port",
        ),
      ),
    },
    examples: [
      ["tieout serve", "until it is interrupted"],
      ["tieout serve --no-webhook --status-port 9000", "only the schedule and the status page"],
    ],
    exits: { done: "done: it was interrupted" },
  },
  Effect.fn("Cli.serve")(function* ({ handOut, noWebhook, statusPort }) {
    yield* checkPort(statusPort)
    yield* (yield* Output).interruptIsTheEnd
    if (handOut) yield* onNewerNode
    return yield* serving({ webhook: !noWebhook, statusPort }, handOut)
  }),
)
