/** No secret appears in a command's output, errors or log, whoever sent it there. */
import { createServer } from "node:http"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { describe } from "vitest"
import { Secrets } from "../../src/Settings/KnownSecrets.ts"
import { listenOn } from "../support/Loopback.ts"
import { program } from "../support/Program.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const secret = 'p&ss "w/rd" <ü>'

/** All forms in which a server may write the secret. */
const echoed = [
  secret,
  new URLSearchParams({ client_secret: secret }).toString(),
  encodeURIComponent(secret),
  JSON.stringify(secret),
  JSON.stringify(secret).replace(/[<>&]/g, (found) => `\\u00${found.charCodeAt(0).toString(16)}`),
  secret.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;"),
  Buffer.from(secret).toString("base64"),
  Buffer.from(`tieout:${secret}`).toString("base64"),
]

/** A server that answers everything with all these forms: in messages, in headers, and as text that is no JSON. */
const hostile = (how: "words" | "page", tokens: boolean) =>
  Effect.map(
    listenOn(
      createServer((request, response) => {
        request.resume()
        if (tokens && request.url?.endsWith("/oauth/token")) {
          response.setHeader("content-type", "application/json")
          return response.end(
            JSON.stringify({ access_token: "t0ken-of-ours", token_type: "Bearer", expires_in: 600 }),
          )
        }
        const said = `${echoed.join(" ")} t0ken-of-ours`
        response.setHeader(
          "content-type",
          how === "words" ? "application/json" : "text/html; p=t0ken-of-ours",
        )
        response.statusCode = how === "words" ? 400 : 200
        return response.end(how === "words" ? JSON.stringify({ code: "no", message: said }) : said)
      }),
    ),
    (port) => `http://127.0.0.1:${port}/api/v1`,
  )

const pieces = ["p&ss", "p%26ss", "p&amp;ss", "u0026ss", "cCZzcyAidy"]

describe("a secret", () => {
  for (const how of ["words", "page"] as const) {
    for (const tokens of [true, false]) {
      it.scopedLive(
        `that a service sends back is in no text: ${how}, ${tokens ? "of a list" : "of the token"}`,
        () =>
          Effect.gen(function* () {
            const { url } = yield* TestDatabase
            const { run } = yield* program
            const variables = {
              DATABASE_URL: url,
              TIEOUT_BASE_URL: yield* hostile(how, tokens),
              ...{ TIEOUT_CLIENT_ID: "id", TIEOUT_CLIENT_SECRET: secret, TIEOUT_SCOPE: "s" },
              ...{ TIEOUT_LIMITS_TRIES: "1", TIEOUT_LOG_LEVEL: "trace" },
            }
            for (const args of [["sync", "--json"], ["doctor", "--discover"], ["status"]]) {
              const { error, out } = yield* run(args, variables)
              expect(`${out}${error}`.length).toBeGreaterThan(0)
              for (const piece of [...pieces, ...(tokens ? ["t0ken-of-ours"] : [])])
                expect([args, `${out}${error}`.includes(piece)]).toEqual([args, false])
            }
          }).pipe(Effect.provide(TestDatabase.migrated)),
      )
    }
  }

  it.scopedLive("is in no error and no line of the log, even where it is a name of ours", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase
      const { run } = yield* program
      const name = "s3cret-of-ours"
      const variables = {
        DATABASE_URL: url,
        // Of several connections, each that fails is named.
        TIEOUT_CONNECTIONS: JSON.stringify({
          [name]: { surfaces: ["organization"] },
          other: { surfaces: ["organization"] },
        }),
        TIEOUT_S3CRET_OF_OURS_BASE_URL: "http://127.0.0.1:9/api/v1",
        ...{ TIEOUT_S3CRET_OF_OURS_CLIENT_ID: "id", TIEOUT_S3CRET_OF_OURS_CLIENT_SECRET: name },
        ...{ TIEOUT_S3CRET_OF_OURS_SCOPE: "s", TIEOUT_LIMITS_TRIES: "1", TIEOUT_LOG_LEVEL: "trace" },
        ...{ TIEOUT_OTHER_BASE_URL: "http://127.0.0.1:9/api/v1", TIEOUT_OTHER_CLIENT_ID: "id" },
        ...{ TIEOUT_OTHER_CLIENT_SECRET: "another secret", TIEOUT_OTHER_SCOPE: "s" },
      }
      for (const args of [["sync"], ["sync", "--connection", `${name}x`]]) {
        const { error } = yield* run(args, variables)
        expect([args[1], error.includes("•••"), error.includes(name)]).toEqual([args[1], true, false])
      }
    }).pipe(Effect.provide(TestDatabase.migrated)),
  )

  it("is known by its variable's name, in an address by its place, and when it is long enough", () => {
    const secrets = new Secrets()
    secrets.learn({
      TIEOUT_ACME_CLIENT_SECRET: "acme-secret",
      TIEOUT_CLIENT_ID: "public-identifier",
      DATABASE_URL: "postgres://jane:of%40the%3Adatabase@db:5432/books",
      HTTPS_PROXY: "http://jane:of-the-proxy@proxy:3128",
      OTEL_EXPORTER_OTLP_HEADERS: "a=1,authorization=Bearer%20of-telemetry",
      TIEOUT_ALERTS_WEBHOOK: "https://hooks.example/T0P",
      TIEOUT_STATUS_TOKEN: "short",
    })
    const text =
      "acme-secret public-identifier of@the:database of%40the%3adatabase of-the-proxy jane Bearer of-telemetry https://hooks.example/T0P short"
    expect(secrets.hide(text)).toBe("••• public-identifier ••• ••• ••• jane ••• ••• short")
    // Secrets that a reload brings are redacted as well.
    secrets.learn({ TIEOUT_ACME_CLIENT_SECRET: "the-next-one" })
    expect(secrets.hide("acme-secret, the-next-one")).toBe("•••, •••")
  })
})
