import { execFileSync, spawnSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { TLSSocket } from "node:tls"
import { expect, it } from "@effect/vitest"
import { Effect, Either, Option, Redacted } from "effect"
import { Database } from "../../src/Database.ts"
import { listenOn } from "../support/Loopback.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"

it.scopedLive(
  "a server without TLS is not believed where TLS is asked for, and the error says how to do without",
  () =>
    Effect.gen(function* () {
      let spoken = ""
      const server = createServer((socket) => {
        socket.on("error", () => undefined)
        socket.once("data", () => {
          // As Postgres does: "N", and then it takes what follows for a startup packet.
          socket.write("N")
          socket.on("data", (bytes) => {
            spoken += bytes.toString("latin1")
            socket.destroy()
          })
        })
      })
      const port = yield* listenOn(server)
      const url = Redacted.make(`postgres://me:s3cret@127.0.0.1:${port}/books?sslmode=verify-full`)
      const opened = yield* Effect.either(
        Effect.provide(Database, Database.layer({ url: Option.some(url), dataDir: "unused" })),
      )
      const error = Either.getOrThrow(Either.flip(opened))
      expect(error.reason).toBe("Unreachable")
      expect(error.message).toContain("say sslmode=disable in DATABASE_URL")
      expect(error.message).not.toContain("s3cret")
      expect(spoken).not.toContain("me")
    }),
)

const hasOpenssl = spawnSync("openssl", ["version"]).status === 0

/** A key, and a certificate of its own for a name or an address. */
const certified = (altName: string, isExpired = false) => {
  const folder = temporaryFolder()
  const files = { key: join(folder, "key.pem"), cert: join(folder, "cert.pem") }
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
  const name = ["-subj", "/CN=books", "-addext", `subjectAltName=${altName}`]
  execFileSync("openssl", ["req", "-x509", ...curve, "-keyout", files.key, "-out", files.cert, ...name], {
    stdio: "pipe",
  })
  if (!isExpired) return files
  const expired = join(folder, "expired.pem")
  const again = ["-signkey", files.key, "-days", "-1"]
  execFileSync("openssl", ["x509", "-in", files.cert, ...again, "-out", expired], { stdio: "pipe" })
  return { ...files, cert: expired }
}

/** Postgres' answer to whom it does not know, so that nobody asks again. */
const refusal = (() => {
  const fields = Buffer.from("SFATAL\0C28P01\0Mno\0\0")
  const head = Buffer.from("E\0\0\0\0")
  head.writeInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
})()

/** What a server with a certificate hears, and the error, of a client that names its authority. */
const reaching = (
  altName: string,
  host: string,
  mode: string,
  { authority, isExpired = false }: { readonly authority?: string; readonly isExpired?: boolean } = {},
) =>
  Effect.gen(function* () {
    let spoken = ""
    const { cert, key } = certified(altName, isExpired)
    const server = createServer((socket) => {
      socket.on("error", () => undefined)
      socket.once("data", () => {
        socket.write("S")
        const secure = new TLSSocket(socket, {
          isServer: true,
          cert: readFileSync(cert),
          key: readFileSync(key),
        })
        secure.on("error", () => undefined)
        secure.on("data", (bytes: Buffer) => {
          spoken += bytes.toString("latin1")
          secure.end(refusal)
        })
      })
    })
    const port = yield* listenOn(server)
    const url = Redacted.make(
      `postgres://someone:s3cret@${host}:${port}/books?sslmode=${mode}&sslrootcert=${encodeURIComponent(authority ?? cert)}`,
    )
    const error = yield* Effect.flip(
      Effect.provide(Database, Database.layer({ url: Option.some(url), dataDir: "unused" })),
    )
    return { reason: error.reason, message: error.message, heard: spoken.includes("someone") }
  })

it.scopedLive.skipIf(!hasOpenssl)(
  "an address is looked for in the certificate, and no name of this machine instead, where an authority is named",
  () =>
    Effect.forEach(
      ["verify-full", "verify-ca", "require"],
      Effect.fn(function* (mode: string) {
        const other = yield* reaching("DNS:localhost", "127.0.0.1", mode)
        expect(other).toMatchObject({ reason: "Settings", heard: false })
        expect(other.message).toContain("Name the host in DATABASE_URL as its certificate does.")
        expect(yield* reaching("IP:127.0.0.1", "127.0.0.1", mode)).toMatchObject({ heard: true })
        expect(yield* reaching("DNS:localhost", "localhost", mode)).toMatchObject({ heard: true })
        expect(yield* reaching("DNS:other", "localhost", mode)).toMatchObject({ heard: false })
      }),
    ),
  60_000,
)

it.scopedLive.skipIf(!hasOpenssl)(
  "where the authority that is named did not sign the certificate, the error does not say to name one",
  () =>
    Effect.gen(function* () {
      const settings = join(temporaryFolder(), "tieout.yaml")
      writeFileSync(settings, "accounting: {}\n")
      for (const authority of [certified("DNS:localhost").cert, settings]) {
        const { heard, message, reason } = yield* reaching("DNS:localhost", "localhost", "verify-full", {
          authority,
        })
        expect([reason, heard]).toEqual(["Settings", false])
        expect(message).toContain("What sslrootcert of DATABASE_URL names did not sign it")
        expect(message).not.toContain("Name the authority")
      }
      const expired = yield* reaching("DNS:localhost", "localhost", "verify-full", { isExpired: true })
      expect(expired.message).toContain("The server needs a certificate that is valid today.")
    }),
  60_000,
)
