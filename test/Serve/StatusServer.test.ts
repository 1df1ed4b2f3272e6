import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { connect, type Socket } from "node:net"
import { join } from "node:path"
import { brotliCompressSync } from "node:zlib"
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import {
  addEntry,
  openAccount,
  openBook,
  payout,
  query,
  reconciled,
  services,
  startRun,
} from "../Reconcile/Books.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { ask, serving } from "./Asking.ts"

const token = "a-token-that-is-long-enough"

layer(services, { excludeTestServices: true })("the private server", (it) => {
  it.scoped("is alive and ready on an empty database, and shows nothing", () =>
    Effect.gen(function* () {
      const port = yield* serving()
      expect(yield* ask(port, "/healthz")).toMatchObject({ status: 200, body: "alive\n" })
      expect(yield* ask(port, "/readyz")).toMatchObject({ status: 200, body: "ready\n" })
      const { body, status } = yield* ask(port, "/")
      expect(status).toBe(200)
      expect(body).toContain("Nothing has been read yet.")
      expect((yield* ask(port, "/nowhere")).status).toBe(404)
    }),
  )

  it.scoped("sends strict headers with every answer, and a page without script", () =>
    Effect.gen(function* () {
      const port = yield* serving()
      for (const path of ["/", "/healthz", "/metrics", "/nowhere"]) {
        const { headers } = yield* ask(port, path)
        expect(headers["content-security-policy"]).toMatch(
          /^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/=]+'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
        )
        expect(headers).toMatchObject({
          "x-content-type-options": "nosniff",
          "x-frame-options": "DENY",
          "referrer-policy": "no-referrer",
          "cache-control": "no-store",
        })
      }
      const { body } = yield* ask(port, "/")
      expect(body).not.toMatch(/<script|style="| on[a-z]+="|https?:\/\/(?!www\.w3\.org)/i)
      const head = yield* ask(port, "/", { method: "HEAD" })
      expect([head.status, head.body]).toEqual([200, ""])
    }),
  )

  it.scoped("answers only to names that it knows", () =>
    Effect.gen(function* () {
      const port = yield* serving({ TIEOUT_STATUS_NAMES: "tieout.internal" })
      const as = (host: string) =>
        Effect.map(ask(port, "/healthz", { headers: { host } }), ({ status }) => status)
      for (const host of ["localhost", "127.0.0.1:8788", "[::1]:1", "LOCALHOST", "tieout.internal:80"])
        expect(yield* as(host)).toBe(200)
      for (const host of [
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "10.0.0.1",
        "a@localhost",
      ])
        expect(yield* as(host)).toBe(421)
    }),
  )

  it.scoped("can only be read", () =>
    Effect.gen(function* () {
      const port = yield* serving()
      for (const method of ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"]) {
        const { headers, status } = yield* ask(port, "/", { method })
        expect([status, headers.allow]).toEqual([405, "GET, HEAD"])
      }
      expect((yield* ask(port, "/login", { method: "POST" })).status).toBe(405)
    }),
  )

  it.scoped("asks for the token where one is set, except for the health checks", () =>
    Effect.gen(function* () {
      const port = yield* serving({ TIEOUT_STATUS_TOKEN: token, TIEOUT_STATUS_HOST: "0.0.0.0" })
      expect((yield* ask(port, "/healthz")).status).toBe(200)
      expect((yield* ask(port, "/readyz")).status).toBe(200)
      for (const path of ["/", "/metrics", "/exports/ORG/1/journal.csv", "/nowhere"]) {
        expect((yield* ask(port, path)).status).toBe(401)
        const headers = { authorization: `Bearer ${token}x` }
        expect((yield* ask(port, path, { headers })).headers["www-authenticate"]).toBe(
          'Bearer realm="tieout"',
        )
      }
      const bearer = { authorization: `Bearer ${token}` }
      expect((yield* ask(port, "/metrics", { headers: bearer })).status).toBe(200)
      const form = yield* ask(port, "/", { headers: { accept: "text/html" } })
      expect([form.status, form.body.includes('<form method="post" action="/login">')]).toEqual([401, true])
    }),
  )

  it.scoped("accepts the token by a form, and keeps only a proof of it", () =>
    Effect.gen(function* () {
      const port = yield* serving({ TIEOUT_STATUS_TOKEN: token })
      const send = (body: string, headers: Record<string, string> = {}) =>
        ask(port, "/login", {
          method: "POST",
          body,
          headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
        })
      expect((yield* send("token=wrong")).status).toBe(401)
      expect((yield* send("token=a", { "content-type": "text/plain" })).status).toBe(415)
      expect((yield* send(`token=${"x".repeat(5_000)}`)).status).toBe(413)
      const done = yield* send(`token=${token}`)
      const cookie = done.headers["set-cookie"]?.[0] ?? ""
      expect([done.status, done.headers.location]).toEqual([303, "/"])
      expect(cookie).toMatch(
        /^tieout_status=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/,
      )
      expect(cookie).not.toContain(token)
      const pair = cookie.split(";")[0] ?? ""
      expect((yield* ask(port, "/", { headers: { cookie: pair } })).status).toBe(200)
      expect((yield* ask(port, "/", { headers: { cookie: `${pair}x` } })).status).toBe(401)
      expect((yield* ask(port, "/", { headers: { cookie: `tieout_status=${token}` } })).status).toBe(401)
      const tls = { "x-forwarded-proto": "https" }
      const secure = (yield* send(`token=${token}`, tls)).headers["set-cookie"]?.[0] ?? ""
      expect(secure).toMatch(
        /^__Host-tieout_status=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure; Max-Age=43200$/,
      )
      const secured = secure.split(";")[0] ?? ""
      expect((yield* ask(port, "/", { headers: { cookie: secured, ...tls } })).status).toBe(200)
      // Each of several proxies adds how it was reached; the first value is that of the browser.
      for (const [said, prefix] of [
        ["HTTPS, http", "__Host-"],
        ["http, https", "tieout_"],
      ] as const) {
        const answered = yield* send(`token=${token}`, { "x-forwarded-proto": said })
        expect(answered.headers["set-cookie"]?.[0]).toMatch(new RegExp(`^${prefix}`))
      }
      // A cookie without the prefix may have been set by another host, or in the clear.
      expect((yield* ask(port, "/", { headers: { cookie: pair, ...tls } })).status).toBe(401)
    }),
  )

  it.scoped("ends a session when its owner signs out, or all of them", () =>
    Effect.gen(function* () {
      const port = yield* serving({ TIEOUT_STATUS_TOKEN: token })
      const send = (path: string, body: string, cookie = "") =>
        ask(port, path, {
          method: "POST",
          body,
          headers: { "content-type": "application/x-www-form-urlencoded", cookie },
        })
      const session = Effect.map(
        send("/login", `token=${token}`),
        ({ headers }) => headers["set-cookie"]?.[0]?.split(";")[0] ?? "",
      )
      const page = (cookie: string) => ask(port, "/", { headers: { cookie } })
      const [first, second, third] = [yield* session, yield* session, yield* session]
      expect((yield* page(first)).body).toContain("Sign out everywhere")
      expect((yield* send("/logout", "")).status).toBe(401)
      const out = yield* send("/logout", "", first)
      expect([out.status, out.headers["set-cookie"]?.[0]]).toEqual([
        303,
        "tieout_status=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0",
      ])
      expect([(yield* page(first)).status, (yield* page(second)).status]).toEqual([401, 200])
      yield* send("/logout", "everywhere=yes", second)
      expect([(yield* page(second)).status, (yield* page(third)).status]).toEqual([401, 401])
    }),
  )

  it.scoped("accepts no form from another page, not even from another port of this machine", () =>
    Effect.gen(function* () {
      const port = yield* serving({ TIEOUT_STATUS_TOKEN: token })
      const send = (headers: Record<string, string>) =>
        ask(port, "/login", {
          method: "POST",
          body: `token=${token}`,
          headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
        })
      for (const foreign of [
        { "sec-fetch-site": "cross-site" },
        { "sec-fetch-site": "same-site", origin: "http://127.0.0.1:1" },
        { origin: "https://elsewhere.example" },
        { origin: "http://127.0.0.1:1" },
        { origin: "no address" },
      ]) {
        const refused = yield* send(foreign)
        expect([foreign, refused.status, refused.headers["set-cookie"]]).toEqual([foreign, 403, undefined])
      }
      // Our own pages send no referrer, so that browsers call their origin null.
      for (const own of [
        { "sec-fetch-site": "same-origin", origin: "null" },
        { "sec-fetch-site": "none" },
        { origin: "null" },
        { origin: `http://127.0.0.1:${port}` },
        {},
      ]) {
        expect([own, (yield* send(own)).status]).toEqual([own, 303])
      }
    }),
  )

  it.scoped("serves no export without a token, unless the page is open to this machine", () =>
    Effect.gen(function* () {
      const path = "/exports/ORG/1/journal.csv"
      const none = yield* serving()
      expect((yield* ask(none, "/")).status).toBe(200)
      expect(yield* ask(none, path)).toMatchObject({
        status: 403,
        body: expect.stringContaining("status.open: true"),
      })
      const open = yield* serving({ TIEOUT_STATUS_OPEN: "true", TIEOUT_STATUS_TOKEN: token })
      expect([(yield* ask(open, "/")).status, (yield* ask(open, path)).status]).toEqual([200, 404])
    }),
  )

  it.scoped("does not start where others could reach it without a token", () =>
    Effect.gen(function* () {
      const refused = yield* Effect.flip(serving({ TIEOUT_STATUS_HOST: "0.0.0.0" }))
      expect(refused.message).toBe(
        "TIEOUT_STATUS_TOKEN: is not set, but status.host is 0.0.0.0: whoever can reach it must show a token\nMake one, for example with: openssl rand -hex 24",
      )
      const short = yield* Effect.flip(serving({ TIEOUT_STATUS_TOKEN: "short" }))
      expect(short.message).toContain("expected 128 random bits")
      expect(short.message).not.toContain("short")
      for (const weak of [
        "0123456789abcdef0123456789abcde",
        "a".repeat(64),
        "1234567890".repeat(3),
        "a-token-of-21-letters",
      ])
        expect((yield* Effect.flip(serving({ TIEOUT_STATUS_TOKEN: weak }))).message).toContain(
          "128 random bits",
        )
      const open = yield* Effect.flip(serving({ TIEOUT_STATUS_HOST: "0.0.0.0", TIEOUT_STATUS_OPEN: "true" }))
      expect(open.message).toContain("status.open: is true, but status.host is 0.0.0.0: others can reach it")
    }),
  )

  it.scoped("says why it cannot start when the port is taken", () =>
    Effect.gen(function* () {
      const port = yield* serving()
      const { message } = yield* Effect.flip(serving({}, port))
      expect(message).toBe(
        `The status page cannot listen on 127.0.0.1:${port}: another program listens there: stop it, or choose another port with --status-port or status.port [EADDRINUSE].`,
      )
    }),
  )

  it.scoped("escapes texts of others, and shows no names, numbers or rows", () =>
    Effect.gen(function* () {
      const book = yield* openBook
      const account = yield* openAccount(book)
      yield* addEntry(account, { type: "CREDIT", amount: "1234567.5", of: payout })
      yield* startRun(book)
      yield* reconciled(book)
      const evil = `<script>alert(1)</script>"'&\u202e`
      yield* query(
        (sql) => sql`
          insert into reconcile.findings (book_id, check_name, severity, subject_type, subject_id, message, evidence)
          values (${book.bookId}, 'cash-balance', 'blocking', 'account', ${account.id}, ${evil},
            ${JSON.stringify({ ledger: evil, readAgain: [{ content: { remitterName: "Jane Remitter" } }] })}::text::jsonb)`,
      )
      yield* query(
        (sql) => sql`
          insert into mirror.quarantine (book_id, stream, item_id, raw, reason, path, digest, run_id)
          values (${book.bookId}, ${`statement:${account.id}`}, null, '{"iban":"DE00 1234"}', ${evil}, '$.amount', 'd', 0)`,
      )
      const port = yield* serving({ TIEOUT_CONNECTIONS: `{ ${book.connection}: {} }` })
      const { body } = yield* ask(port, "/")
      expect(body).not.toContain("<script")
      expect(body).not.toContain("\u202e")
      expect(body).not.toContain("Jane Remitter")
      expect(body).not.toContain("DE00")
      expect(body).toContain("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;\ufffd")
      expect(body).toContain("1 more field: <code>tieout explain F")
      expect(body).toContain('<span class="amount">1,234,567.50<i>USD</i></span>')
      expect(body).toContain("The books are current. 1 account does not tie out; ")
      const text = yield* ask(port, "/metrics")
      expect(text.body).toContain(`tieout_quarantine_rows{connection="${book.connection}"} 1\n`)
      yield* query(
        (sql) => sql`update mirror.quarantine set resolved_at = now() where book_id = ${book.bookId}`,
      )
      yield* query(
        (sql) => sql`update reconcile.findings set closed_at = now() where book_id = ${book.bookId}`,
      )
    }),
  )

  it.scoped("serves the files that a batch names, and no others", () =>
    Effect.gen(function* () {
      const out = temporaryFolder()
      const book = yield* openBook
      const folder = join(out, "a", "all", "1")
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, "journal.csv"), "a,b\n")
      writeFileSync(join(folder, "secret.txt"), "secret")
      writeFileSync(join(folder, "manifest.json"), "{}")
      symlinkSync("/etc/hostname", join(folder, "link.csv"))
      const files = ["journal.csv", "gone.csv", "link.csv"].map((name) => ({ name, bytes: 4 }))
      yield* query(
        (sql) => sql`
          insert into export.batches (book_id, batch, scope, formats, folder, through_numbering, manifest)
          values (${book.bookId}, 1, 'all', '{journal}', 'a/all/1', 1,
            ${JSON.stringify({ complete: true, entries: 1, files })}::text::json)`,
      )
      const port = yield* serving({ TIEOUT_SCHEDULE_OUT: out, TIEOUT_STATUS_OPEN: "true" })
      const file = yield* ask(port, `/exports/${book.code}/1/journal.csv`)
      expect([file.status, file.body, file.headers["content-type"]]).toEqual([
        200,
        "a,b\n",
        "application/octet-stream",
      ])
      expect(file.headers["content-disposition"]).toBe(`attachment; filename="${book.code}-1-journal.csv"`)
      const head = yield* ask(port, `/exports/${book.code}/1/journal.csv`, { method: "HEAD" })
      expect([head.status, head.headers["content-length"], head.body]).toEqual([200, "4", ""])
      expect((yield* ask(port, `/exports/${book.code}/1/manifest.json`)).status).toBe(200)
      for (const path of [
        `/exports/${book.code}/1/secret.txt`,
        `/exports/${book.code}/1/gone.csv`,
        `/exports/${book.code}/1/link.csv`,
        `/exports/${book.code}/2/journal.csv`,
        `/exports/OTHER/1/journal.csv`,
        `/exports/${book.code}/1/../1/journal.csv`,
        `/exports/${book.code}/1/..%2f1%2fjournal.csv`,
        `/exports/${book.code}/1/%2e%2e/secret.txt`,
        "/exports/../../etc/passwd",
        "/exports/..%2f..%2fetc%2fpasswd",
        `/exports/${book.code}/1//etc/passwd`,
        `/exports/${book.code}/1/journal.csv%00`,
        `/exports/${book.code}/1\\journal.csv`,
      ]) {
        const { body, status } = yield* ask(port, path)
        expect([path, status, body.includes("secret")]).toEqual([path, 404, false])
      }
      expect((yield* ask(port, "/")).body).toContain(`href="/exports/${book.code}/1/journal.csv"`)
    }),
  )

  it.scoped("tells a batch that is not to be imported, and one in the base currency, from the others", () =>
    Effect.gen(function* () {
      const book = yield* openBook
      const manifest = JSON.stringify({ complete: true, entries: 1, files: [] })
      yield* query(
        (sql) => sql`
          insert into export.batches
            (book_id, batch, scope, formats, folder, through_numbering, manifest, currency_basis, as_of)
          values
            (${book.bookId}, 1, '2026-09', '{journal}', 'a/2026-09/1', 1, ${manifest}::text::json, 'EUR', null),
            (${book.bookId}, 2, '2026-09@20261105T120000Z', '{journal}', 'a/2026-09@20261105T120000Z/2', 1,
              ${manifest}::text::json, 'native', '2026-11-05T12:00Z')`,
      )
      const port = yield* serving({ TIEOUT_STATUS_OPEN: "true" })
      const { body } = yield* ask(port, "/")
      expect(body).toContain("2026-09 in EUR, batch 1")
      const [asOf] = (body.split("2026-09@20261105T120000Z, batch 2")[1] ?? "").split("</tr>")
      expect(asOf).toContain("as of 2026-11-05 12:00")
      expect(asOf).not.toContain("committed")
    }),
  )

  it.scoped("gives what the database keeps of a batch whose folder another machine has", () =>
    Effect.gen(function* () {
      const book = yield* openBook
      const blocks = ["a,b\n".repeat(100_000), "c,d\n"]
      const bytes = blocks.join("").length
      const files = [
        { name: "journal.csv", bytes },
        { name: "lost.csv", bytes: 4 },
      ]
      const manifest = JSON.stringify({ complete: true, entries: 1, files })
      yield* query(
        (sql) => sql`
          insert into export.batches (book_id, batch, scope, formats, folder, through_numbering, manifest)
          values (${book.bookId}, 1, 'all', '{journal}', 'a/all/1', 1, ${manifest}::text::json)`,
      )
      for (const [at, block] of blocks.entries()) {
        yield* query(
          (sql) => sql`
            insert into export.batch_files (book_id, batch, name, chunk, content)
            values (${book.bookId}, 1, 'journal.csv', ${at + 1}, ${brotliCompressSync(block)})`,
        )
      }
      const port = yield* serving({ TIEOUT_SCHEDULE_OUT: temporaryFolder(), TIEOUT_STATUS_OPEN: "true" })
      const path = `/exports/${book.code}/1`
      const file = yield* ask(port, `${path}/journal.csv`)
      expect([file.status, file.headers["content-length"]]).toEqual([200, String(bytes)])
      expect(file.body).toBe(blocks.join(""))
      expect(file.headers["content-disposition"]).toBe(`attachment; filename="${book.code}-1-journal.csv"`)
      const head = yield* ask(port, `${path}/journal.csv`, { method: "HEAD" })
      expect([head.status, head.headers["content-length"], head.body]).toEqual([200, String(bytes), ""])
      expect((yield* ask(port, `${path}/manifest.json`)).body).toBe(manifest)
      const lost = yield* ask(port, `${path}/lost.csv`)
      expect([lost.status, lost.body]).toEqual([404, expect.stringContaining("nor in the database")])
    }),
  )

  it.scoped("shows webhook events, and how many wait", () =>
    Effect.gen(function* () {
      yield* query(
        (sql) => sql`
          insert into webhook.inbox (connection, event_id, digest, type, body, key_id, algorithm, state)
          values ('inbox-a', 'e1', '\\x00', 'deposit.completed', '\\x7b7d', 'k', 'ES256', 'waiting'),
            ('inbox-a', 'e2', '\\x01', 'deposit.created', '\\x7b7d', 'k', 'ES256', 'done'),
            ('inbox-a', 'e3', '\\x02', 'deposit.created', '\\x7b7d', 'k', 'ES256', 'dead'),
            ('inbox-a', 'e4', '\\x03', 'deposit.created', '\\x7b7d', 'k', 'ES256', 'dead'),
            ('inbox-b', 'e5', '\\x04', null, '\\x7b7d', 'k', 'ES256', 'poison')`,
      )
      const port = yield* serving()
      const { body } = yield* ask(port, "/")
      expect(body).toContain("Webhook events <small>1 waiting</small>")
      expect(body).toContain("deposit.created")
      expect(body).toContain("2 events were given up and 1 event cannot be read.")
      for (const text of ["given up", "unreadable", "waits", "done"]) expect(body).toMatch(`>${text}</span>`)
      const metrics = (yield* ask(port, "/metrics")).body
      expect(metrics).toContain("tieout_inbox_depth 1\n")
      const states = [
        ...metrics.matchAll(/^tieout_inbox_events\{connection="(inbox-\w)",state="(\w+)"\} (\d+)$/gm),
      ]
      expect(states.filter(([, , , events]) => events !== "0").map((found) => found.slice(1))).toEqual([
        ["inbox-a", "waiting", "1"],
        ["inbox-a", "dead", "2"],
        ["inbox-b", "poison", "1"],
      ])
      expect(states).toHaveLength(8)
    }),
  )

  it.scoped("answers /healthz beside 250 connections that say nothing", () =>
    Effect.gen(function* () {
      const port = yield* serving()
      yield* Effect.forEach(
        Array.from({ length: 250 }),
        () =>
          Effect.acquireRelease(
            Effect.async<Socket>((resume) => {
              const socket = connect(port, "127.0.0.1", () => resume(Effect.succeed(socket)))
              socket.on("error", () => undefined)
            }),
            (socket) => Effect.sync(() => socket.destroy()),
          ),
        { concurrency: "unbounded" },
      )
      expect((yield* ask(port, "/healthz")).status).toBe(200)
    }),
  )

  it.scoped("is not ready when the database lacks a migration", () =>
    Effect.gen(function* () {
      const port = yield* serving()
      expect(yield* ask(port, "/readyz")).toMatchObject({
        status: 503,
        body: expect.stringMatching(/^not ready: the database lacks \d+ migrations?: run tieout migrate\n$/),
      })
    }).pipe(Effect.provide(TestDatabase.blankLayer)),
  )
})
