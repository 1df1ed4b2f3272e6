/** Which connections there are, and what each may use. Their secrets come from the environment: `Credentials.ts`. */
import { Schema } from "effect"
import { withDefault } from "./Field.ts"
import { Interface } from "./Interface.ts"

const Surface = Schema.Literal("organization", "client", "credit")

const Surfaces = Schema.NonEmptyArray(Surface)
  .pipe(Schema.filter((surfaces) => new Set(surfaces).size === surfaces.length))
  .annotations({ description: "a list of surfaces, each once: organization, client, credit" })

export const Connection = Schema.Struct({
  surfaces: withDefault(Surfaces, ["organization"]),
  /** What differs from the common `interface` section for this connection alone. */
  interface: Schema.optionalWith(Interface, { exact: true }),
})

/** Lower case, so that the name of its variables follows from it and no two can share them. */
export const ConnectionName = Schema.String.pipe(Schema.pattern(/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/)).annotations({
  description: "a connection name of lower-case letters, digits and single dashes",
})

export const Connections = Schema.Record({ key: ConnectionName, value: Connection })
