/** One sync run as a process of its own, so that a test can kill it. Reads the usual environment. */
import { Effect, Layer } from "effect"
import { Database } from "../../src/Database.ts"
import { Settings } from "../../src/Settings.ts"
import { Sync } from "../../src/Sync.ts"

const run = Effect.flatMap(Sync, (sync) => sync.run({ connection: "default", full: false })).pipe(
  Effect.provide(Sync.Default.pipe(Layer.provide(Settings.Default), Layer.provide(Database.Default))),
)

process.stdout.write("started\n")
Effect.runPromise(run).then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${String(error)}\n`)
    process.exit(1)
  },
)
