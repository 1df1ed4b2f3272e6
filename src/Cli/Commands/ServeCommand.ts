import { Command, Options } from "@effect/cli"
import { Effect, Layer, Option } from "effect"
import { Ledger } from "../../Ledger.ts"
import type { ServeOptions } from "../../Serve.ts"
import { Settings } from "../../Settings.ts"
import { Events } from "../../Sync/Events.ts"
import { Sync } from "../../Sync.ts"
import { Inbox } from "../../Webhook/Inbox.ts"
import { UsageError } from "../Arguments.ts"
import { books, booksForSync } from "../Books.ts"
import { Output } from "../Output.ts"

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
    Effect.promise(() => import("../../Serve.ts")),
    ({ parts }) => Layer.provideMerge(parts, Layer.provideMerge(syncs, books)),
  ),
)

/** Fails before anything is started. */
const checkPort = (port: Option.Option<number>) =>
  Option.exists(port, (found) => found < 0 || found > 65_535)
    ? new UsageError({
        detail: `--status-port: found ${Option.getOrElse(port, () => 0)}, expected a port, a whole number from 0 to 65535.`,
        advice: "Leave it out to use status.port; 0 is any free port.",
      })
    : Effect.void

const serving = Effect.fn("Cli.serving")(function* (options: ServeOptions) {
  const output = yield* Output
  const { connectionNames, schedule } = yield* Settings
  const { serve: run } = yield* Effect.promise(() => import("../../Serve.ts"))
  yield* output.interruptIsTheEnd
  return yield* run(
    options,
    Effect.logInfo(
      `Serving ${connectionNames.join(", ")}; ${schedule.nightly === null ? "nothing runs by itself" : `the nightly sync is due at "${schedule.nightly}"`}.`,
    ),
  )
}, Effect.provide(services))

export const serve = Command.make(
  "serve",
  {
    noWebhook: Options.boolean("no-webhook"),
    statusPort: Options.integer("status-port").pipe(Options.optional),
  },
  Effect.fn("Cli.serve")(function* ({ noWebhook, statusPort }) {
    yield* checkPort(statusPort)
    return yield* serving({ webhook: !noWebhook, statusPort })
  }),
)
