import { execFileSync, spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import { connect } from "node:net"
import { join } from "node:path"
import { createServer as createTlsServer } from "node:tls"
import { expect, it } from "@effect/vitest"
import { Duration, Effect, Either, Option, Redacted } from "effect"
import { describe } from "vitest"
import { proxyFor } from "../../src/Common/Proxy.ts"
import type { ServiceLimits } from "../../src/Partner/ServiceLimits.ts"
import { Partner } from "../../src/Partner.ts"
import { listenOn } from "../support/Loopback.ts"
import { program } from "../support/Program.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { json, partnerAt, serve } from "./Service.ts"

const through = (origin: string, variables: Record<string, string>) =>
  Either.map(proxyFor(origin, variables), Option.getOrNull)

describe("the proxy of the environment", () => {
  it("is that of HTTPS_PROXY, except for hosts that NO_PROXY lists", () => {
    const proxy = "http://proxy:3128"
    const service = "https://api.service.test/api/v1"
    const asked = (no: string) => through(service, { HTTPS_PROXY: proxy, NO_PROXY: no })
    for (const no of ["", "other.test", "ervice.test", "api.service.test:8443", "api"])
      expect([no, asked(no)]).toEqual([no, Either.right(proxy)])
    for (const no of [
      "*",
      "api.service.test",
      "API.service.test",
      ".service.test",
      "service.test",
      "a,b , *.service.test",
      "service.test:443",
    ])
      expect([no, asked(no)]).toEqual([no, Either.right(null)])
    expect(through(service, {})).toEqual(Either.right(null))
    expect(through(service, { HTTPS_PROXY: "proxy:3128" })).toEqual(Either.right("http://proxy:3128"))
    expect(through(service, { https_proxy: "http://small:1", HTTPS_PROXY: proxy })).toEqual(
      Either.right("http://small:1"),
    )
    expect(through("http://127.0.0.1:8700", { HTTPS_PROXY: proxy })).toEqual(Either.right(null))
    expect(Either.isLeft(through(service, { HTTPS_PROXY: "socks5://proxy:1" }))).toBe(true)
  })
})

/** A proxy that connects every request to one port, or answers with a status. */
const proxying = (to: number, status = 200) => {
  const asked: Array<string> = []
  const server = createServer()
  server.on("connect", (request, socket) => {
    asked.push(`${request.url} ${request.headers["proxy-authorization"] ?? ""}`.trim())
    if (status !== 200) {
      socket.end(`HTTP/1.1 ${status} No\r\n\r\n`)
      return
    }
    const target = connect(to, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n")
      target.pipe(socket).pipe(target)
    })
    target.on("error", () => socket.destroy())
    socket.on("error", () => target.destroy())
  })
  return Effect.map(listenOn(server), (port) => ({ port, asked }))
}

const hasOpenssl = spawnSync("openssl", ["version"]).status === 0

/** A key and a certificate of its own for service.test and this machine. */
const certified = () => {
  const folder = temporaryFolder()
  const files = { key: join(folder, "key.pem"), cert: join(folder, "cert.pem") }
  const name = ["-subj", "/CN=service.test", "-addext", "subjectAltName=DNS:service.test,IP:127.0.0.1"]
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
  execFileSync("openssl", ["req", "-x509", ...curve, "-keyout", files.key, "-out", files.cert, ...name], {
    stdio: "pipe",
  })
  return files
}

/** A TLS server in front of a service of plain http. */
const inTls = (url: string, { cert, key }: { cert: string; key: string }) => {
  const server = createTlsServer({ cert: readFileSync(cert), key: readFileSync(key) }, (socket) => {
    const target = connect(Number(new URL(url).port), "127.0.0.1")
    socket.pipe(target).pipe(socket)
    socket.on("error", () => target.destroy())
    target.on("error", () => socket.destroy())
  })
  server.on("tlsClientError", () => undefined)
  return listenOn(server)
}

const failing = (baseUrl: string, proxy?: string, limits: Partial<ServiceLimits> = {}) =>
  Effect.flatMap(Partner, ({ account }) => account("a")).pipe(
    Effect.provide(
      partnerAt(baseUrl, {
        limits: { tries: 1, ...limits },
        ...(proxy === undefined ? {} : { proxy: Option.some(Redacted.make(proxy)) }),
      }),
    ),
    Effect.flip,
    Effect.map(({ message }) => message),
  )

describe("a service behind a proxy", () => {
  it.scopedLive.skipIf(!hasOpenssl)(
    "is asked through it, with the certificate that NODE_EXTRA_CA_CERTS names",
    () =>
      Effect.gen(function* () {
        const service = yield* serve((_, response) =>
          json(response, { items: [], pageInfo: { hasNextPage: false } }),
        )
        const files = certified()
        const proxy = yield* proxying(yield* inTls(service.url, files))
        const { start } = yield* program
        const variables = {
          TIEOUT_BASE_URL: "https://service.test/api/v1",
          TIEOUT_CLIENT_ID: "a",
          TIEOUT_CLIENT_SECRET: "b",
          TIEOUT_SCOPE: "c",
          HTTPS_PROXY: `http://me:pass%20word@127.0.0.1:${proxy.port}`,
        }
        const untrusted = yield* start(["doctor"], variables)
        expect(untrusted.out + untrusted.error).toContain("NODE_EXTRA_CA_CERTS=/path/to/ca.pem")
        expect(service.calls).toEqual([])
        yield* start(["doctor"], { ...variables, NODE_EXTRA_CA_CERTS: files.cert })
        expect(service.count("/oauth/token")).toBe(1)
        expect(service.count("/accounts")).toBeGreaterThan(0)
        const basic = Buffer.from("me:pass word").toString("base64")
        expect(new Set(proxy.asked)).toEqual(new Set([`service.test:443 Basic ${basic}`]))
      }),
  )

  it.scopedLive("reports the proxy's answer where it does not connect", () =>
    Effect.gen(function* () {
      const locked = yield* proxying(0, 407)
      expect(yield* failing("https://service.test/api/v1", `http://127.0.0.1:${locked.port}`)).toMatch(
        /the proxy does not connect to service\.test: it answers 407.*Put user and password of the proxy into HTTPS_PROXY/s,
      )
      const closed = yield* proxying(0, 502)
      expect(yield* failing("https://service.test/api/v1", `http://127.0.0.1:${closed.port}`)).toMatch(
        /it answers 502.*list the host in NO_PROXY/s,
      )
    }),
  )
})

it.scopedLive("asks a proxy that closes the connection once for each try, and says so", () =>
  Effect.gen(function* () {
    let asked = 0
    const port = yield* listenOn(
      createServer().on("connect", (_, socket) => {
        asked++
        socket.destroy()
      }),
    )
    expect(yield* failing("https://service.test/api/v1", `http://127.0.0.1:${port}`)).toMatch(
      /the proxy does not connect to service\.test: it closes the connection.*Check that HTTPS_PROXY names a proxy/s,
    )
    expect(asked).toBe(1)
  }),
)

describe("a proxy that takes the connection and says nothing", () => {
  const silent = () => listenOn(createServer().on("connect", () => undefined))

  it.scopedLive("is waited for as long as for the service's answer, and named", () =>
    Effect.gen(function* () {
      const port = yield* silent()
      expect(
        yield* failing("https://service.test/api/v1", `http://127.0.0.1:${port}`, {
          headersTimeout: Duration.millis(300),
        }),
      ).toMatch(
        /the proxy does not connect to service\.test: it does not answer.*Check that HTTPS_PROXY names a proxy/s,
      )
    }),
  )

  it.scopedLive("holds no attempt for longer than an attempt may take", () =>
    Effect.gen(function* () {
      const port = yield* silent()
      expect(
        yield* failing("https://service.test/api/v1", `http://127.0.0.1:${port}`, {
          attemptTimeout: Duration.millis(300),
        }),
      ).toContain("no whole answer within the attempt timeout")
    }),
  )
})

describe("an address that is not the service's", () => {
  it.scopedLive(
    "is reported with its cause: https on a port of http, a missing path, a scope that was not issued",
    () =>
      Effect.gen(function* () {
        const plain = yield* serve((_, response) => json(response, {}))
        const tls = yield* failing(plain.url.replace("http://", "https://"))
        expect(tls).toMatch(/answers, but not in TLS.*Check the port of the base address/s)
        expect(tls).not.toContain("certificate")

        const elsewhere = yield* serve(
          (_, response) => json(response, {}),
          (_, response) => json(response, { code: "not_found" }, 404),
        )
        expect(yield* failing(elsewhere.url)).toMatch(
          /there is no token to be had at this address.*TIEOUT_BASE_URL: it holds the path, too \(https:\/\/host\/api\/v1\)/s,
        )

        const strict = yield* serve(
          (_, response) => json(response, {}),
          (_, response) =>
            json(response, { error: "invalid_scope", error_description: "unknown: b:read" }, 400),
        )
        expect(yield* failing(strict.url)).toMatch(
          /the credentials are refused \(invalid_scope: unknown: b:read\).*Check TIEOUT_SCOPE: exactly the scopes/s,
        )
      }),
  )
})
