import { Command, Options } from "@effect/cli"
import { Effect, Layer } from "effect"
import { Events } from "../Events.ts"
import { Ledger } from "../Ledger.ts"
import { Settings } from "../Settings.ts"
import { Sync } from "../Sync.ts"
import { Inbox } from "../Webhook/Inbox.ts"
import { books, booksForSync } from "./Books.ts"
import { Output } from "./Output.ts"

/** A database of its own, with the plans that suit a sync; the pages and exports use one with ordinary plans. */
const syncs = Layer.fresh(
  Layer.provide(
    Layer.provideMerge(Layer.merge(Sync.Default, Events.Default), Inbox.Default),
    Layer.provideMerge(Ledger.Default, booksForSync),
  ),
)

/** Not loaded by the other commands: the HTTP server takes its time. */
const services = Layer.unwrapEffect(
  Effect.map(
    Effect.promise(() => import("../Serve.ts")),
    ({ parts }) => Layer.provideMerge(parts, Layer.provideMerge(syncs, books)),
  ),
)

export const serve = Command.make(
  "serve",
  {
    noWebhook: Options.boolean("no-webhook"),
    statusPort: Options.integer("status-port").pipe(Options.optional),
  },
  Effect.fn("Cli.serve")(function* ({ noWebhook, statusPort }) {
    const output = yield* Output
    const { connectionNames, schedule } = yield* Settings
    const { serve: run } = yield* Effect.promise(() => import("../Serve.ts"))
    yield* output.interruptIsTheEnd
    return yield* run(
      { webhook: !noWebhook, statusPort },
      Effect.logInfo(
        `Serving ${connectionNames.join(", ")}; ${schedule.nightly === null ? "nothing runs by itself" : `the nightly sync is due at "${schedule.nightly}"`}.`,
      ),
    )
  }, Effect.provide(services)),
)
