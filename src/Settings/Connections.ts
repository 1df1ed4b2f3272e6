/** The connections and their surfaces. Their secrets come from the environment: `Credentials.ts`. */
import { Schema } from "effect"
import { withDefault } from "../Common/Field.ts"
import { Interface } from "./Interface.ts"

const Surface = Schema.Literal("organization", "client", "credit")

const Surfaces = Schema.NonEmptyArray(Surface)
  .pipe(Schema.filter((surfaces) => new Set(surfaces).size === surfaces.length))
  .annotations({ description: "a list of surfaces, each once: organization, client, credit" })

const Connection = Schema.Struct({
  surfaces: withDefault(Surfaces, ["organization"]),
  /** Overrides of the common `interface` section for this connection. */
  interface: Schema.optionalWith(Interface, { exact: true }),
})

/**
 * Lower case: the names of its variables follow from it, and no two connections share one. So long that its organization's book
 * has a code (`organizationCode` in `src/Book.ts`), of which the tables hold 40 characters.
 */
const connectionName = /^(?=.{1,36}$)[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/

export const Connections = Schema.Record({ key: Schema.String, value: Connection }).pipe(
  Schema.filter((connections) => {
    const names = Object.keys(connections)
    if (names.length === 0) return "at least one connection"
    return names
      .filter((name) => !connectionName.test(name))
      .map((name) => ({
        path: [name],
        message: "a name of at most 36 lower-case letters, digits and single dashes",
      }))
  }),
)
