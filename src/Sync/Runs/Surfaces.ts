/** What of a connection a command reads. */
import { Effect, Option } from "effect"
import { SettingsError } from "../../Settings.ts"

export type Surface = "organization" | "client" | "credit"

export interface SurfaceOptions {
  readonly connection: string
  /** Only this surface of the connection. */
  readonly surface?: Option.Option<Surface>
  /** Only this client, by its identifier or its code. */
  readonly client?: Option.Option<string>
}

/** The surfaces to read: those of the connection, or the one that was asked for. */
export const surfacesOf = (
  known: ReadonlyArray<Surface>,
  { client, connection, surface }: SurfaceOptions,
): Effect.Effect<ReadonlySet<Surface>, SettingsError> => {
  const only: Option.Option<Surface> =
    client !== undefined && Option.isSome(client) ? Option.some("client") : (surface ?? Option.none())
  if (Option.isNone(only)) return Effect.succeed(new Set(known))
  if (known.includes(only.value)) return Effect.succeed(new Set([only.value]))
  return new SettingsError({
    reason: "Invalid",
    mistakes: [
      `connection ${connection} does not use the ${only.value} surface; it uses ${known.join(", ")}`,
    ],
    advice: `Add ${only.value} to connections.${connection}.surfaces, or ask for another one; where another connection has it, say so by --connection.`,
  })
}
