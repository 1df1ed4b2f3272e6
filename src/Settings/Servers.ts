/** What listens and what runs by itself. */
import { Schema } from "effect"
import { Port, Schedule, withDefault } from "./Field.ts"

export const Webhook = Schema.Struct({
  port: withDefault(Port, 8787),
  path: withDefault(
    Schema.String.pipe(Schema.pattern(/^\/[^\s?#]*$/)).annotations({
      description: "a path that starts with / and has no query; {connection} stands for the name",
    }),
    "/webhooks/{connection}",
  ),
})

export const Status = Schema.Struct({ port: withDefault(Port, 8788) })

export const Nightly = Schema.Struct({ nightly: withDefault(Schedule, "30 3 * * *") })
