/** Where the private server listens, and what is said where it cannot. */
import { createServer, type Server } from "node:net"
import { Data, Effect, Option } from "effect"
import { Settings } from "../Settings.ts"

/** The server cannot listen. */
export class ListenError extends Data.TaggedError("ListenError")<{ readonly message: string }> {}

/** `section` is the section of the settings that has the port and the host. */
export const listenError = (
  server: { readonly name: string; readonly section: "status" | "webhook"; readonly otherwise?: string },
  host: string,
  port: number,
  cause: unknown,
): ListenError => {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown error"
  const { name, otherwise = "", section } = server
  const another = `${otherwise}${section}.port`
  const why: Readonly<Record<string, string>> = {
    EADDRINUSE: `another program listens there: stop it, or choose another port with ${another}`,
    EADDRNOTAVAIL: `this machine has no such address: check ${section}.host`,
    EACCES: `this user may not use that port: choose one from 1024 on with ${another}`,
  }
  return new ListenError({
    message: `The ${name} cannot listen on ${host}:${port}: ${why[code] ?? `check ${section}.host and ${section}.port`} [${code}].`,
  })
}

const statusPage = { name: "status page", section: "status", otherwise: "--status-port or " } as const

/** Ports on which this process serves the page. */
const served = new Set<number>()

/** Notes for as long as the scope lives that this process serves the page there. */
export const serving = (port: number) =>
  Effect.acquireRelease(
    Effect.sync(() => served.add(port)),
    () => Effect.sync(() => served.delete(port)),
  )

export const addressOf = ({ host }: Settings["status"], port: number) => ({
  host: host.replace(/^\[|\]$/g, ""),
  port,
})

export const cannotListen = ({ host }: Settings["status"], port: number, cause: unknown): ListenError =>
  listenError(statusPage, host, port, cause)

/**
 * Runs an effect, such as the start of another server, where the status server could listen, and keeps its address meanwhile: one
 * with former settings, which still listens, would otherwise end for nothing. A port that this process itself serves will be free.
 */
export const withStatusAddress = <A, E, R>(port: Option.Option<number>, effect: Effect.Effect<A, E, R>) =>
  Effect.acquireUseRelease(
    Effect.flatMap(Settings, ({ status }) => {
      const wanted = Option.getOrElse(port, () => status.port)
      return Effect.async<Server, ListenError>((resume) => {
        const probe = createServer((socket) => socket.destroy())
        probe.once("error", (cause: NodeJS.ErrnoException) =>
          resume(
            cause.code === "EADDRINUSE" && served.has(wanted)
              ? Effect.succeed(probe)
              : cannotListen(status, wanted, cause),
          ),
        )
        probe.listen(addressOf(status, wanted), () => resume(Effect.succeed(probe)))
      })
    }),
    () => effect,
    (probe) => Effect.async<void>((resume) => void probe.close(() => resume(Effect.void))),
  )
