import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { it } from "@effect/vitest"
import { Effect, Either, Layer, Option } from "effect"
import { describe, expect } from "vitest"
import { parse } from "yaml"
import { doctor } from "../../src/Cli/Commands/Setup/DoctorCommand.ts"
import { failureOf } from "../../src/Cli/Failure.ts"
import { makeOutput, Outcome, Output } from "../../src/Cli/Output.ts"
import * as PartnerHttp from "../../src/Partner/Http.ts"
import type { Pages } from "../../src/Partner/Lists/Page.ts"
import { Partner } from "../../src/Partner.ts"
import { Settings, SettingsSource } from "../../src/Settings.ts"
import { json, pagesIn, type Service, secret, serve, uuid } from "../Partner/Service.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { imitate, personal } from "./Imitation.ts"

const folder = temporaryFolder()

const plain = { interactive: false, width: Number.POSITIVE_INFINITY, color: false }

const credentials = (url: string) => ({
  TIEOUT_BASE_URL: url,
  TIEOUT_CLIENT_ID: "the-client",
  TIEOUT_CLIENT_SECRET: secret,
  TIEOUT_SCOPE: "accounts:read",
})

/** Runs the command as a person does, without a process of its own. */
const run = Effect.fn("test.run")(function* (
  args: ReadonlyArray<string>,
  { file, variables }: { readonly file?: string; readonly variables: Record<string, string> },
) {
  const outcome = new Outcome()
  let out = ""
  let error = ""
  const terminal = {
    stdout: plain,
    stderr: plain,
    writeOut: (text: string) => {
      out += text
    },
    writeError: (text: string) => {
      error += text
    },
  }
  const output = makeOutput(args.includes("--json"), terminal, outcome)
  const source = { file: Option.fromNullable(file), variables }
  yield* doctor.run(args.filter((arg) => arg !== "--json")).pipe(
    Effect.catchAll((failure) => output.fail([failureOf(failure)])),
    Effect.provide(
      Layer.mergeAll(Layer.succeed(Output, output), Layer.succeed(SettingsSource, source), NodeContext.layer),
    ),
  )
  for (const value of personal) expect(out + error).not.toContain(value)
  expect(out + error).not.toContain(secret)
  return { code: outcome.code, out, error }
})

const written = (text: string) =>
  Effect.promise(async () => {
    const file = join(folder, `${Math.random().toString(36).slice(2)}.yaml`)
    await writeFile(file, text)
    return file
  })

const rowsOf = <A>(pages: Pages<A> | null) =>
  pages === null
    ? Effect.succeed([])
    : Effect.map(pagesIn(pages(Option.none())), (all) => all.flatMap(({ rows }) => rows))

/** Reads everything that a sync reads with the connector, by the settings of a file. */
const readAll = Effect.fn("test.readAll")(function* (file: string, service: Service) {
  const settings = yield* Effect.flatMap(Settings, ({ connection }) => connection("default")).pipe(
    Effect.provide(Settings.from({ file, variables: credentials(service.url) })),
  )
  return yield* Effect.gen(function* () {
    const partner = yield* Partner
    const lists = yield* Effect.all([
      rowsOf<unknown>(partner.accounts),
      rowsOf<unknown>(partner.statement(uuid(1))),
      rowsOf<unknown>(partner.deposits),
      rowsOf<unknown>(partner.withdrawals),
      rowsOf<unknown>(partner.addressBook),
    ])
    expect(lists.flat().filter(Either.isLeft)).toEqual([])
    return lists.map((list) => list.length)
  }).pipe(Effect.provide(PartnerHttp.layer(settings)))
})

const field = (report: unknown, name: string): unknown =>
  typeof report === "object" && report !== null ? Reflect.get(report, name) : undefined

const list = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

/** `endpoint: verdict severity settings`, of the only connection. */
const verdictsIn = (out: string) => {
  const [connection] = list(field(JSON.parse(out), "connections"))
  return list(field(connection, "endpoints")).map((report) =>
    [
      `${field(report, "surface") ?? "-"} ${field(report, "endpoint")}: ${field(report, "verdict")}`,
      ...(field(report, "severity") === "none"
        ? []
        : [field(report, "severity"), ...list(field(report, "settings"))]),
    ].join(" "),
  )
}

const allWell = (surface: string) => [
  `${surface} accounts: ok`,
  `${surface} account: ok`,
  `${surface} depositInstructions: ok`,
  `${surface} statement: ok`,
]

describe("doctor", () => {
  it.scopedLive(
    "finds nothing wrong with a service that is as the defaults have it, and shows no value",
    () =>
      Effect.gen(function* () {
        const service = yield* imitate()
        const { code, error, out } = yield* run(["--json"], { variables: credentials(service.url) })
        expect([code, error]).toEqual([0, ""])
        expect(verdictsIn(out)).toEqual([
          ...allWell("organization"),
          "organization deposits: ok",
          "organization deposit: ok",
          "organization withdrawals: ok",
          "organization withdrawal: ok",
          "organization conversions: untried",
          "organization conversion: ok",
          "organization conversionPairs: ok",
          "organization addressBook: ok",
          "- pageSize: ok",
          "- paging: ok",
        ])
        expect(service.calls.filter(({ method }) => method !== "GET").map(({ path }) => path)).toEqual([
          "/oauth/token",
        ])
        const human = yield* run([], { variables: credentials(service.url) })
        expect(human.out).toContain("default: all is well.")
      }),
  )

  it.scopedLive("follows the client and the credit surface, the client surface below its prefix", () =>
    Effect.gen(function* () {
      const service = yield* imitate()
      const file = yield* written("connections: { default: { surfaces: [client, credit] } }")
      const { code, out } = yield* run(["--json"], { file, variables: credentials(service.url) })
      expect(code).toBe(0)
      expect(verdictsIn(out)).toEqual([
        "client clients: ok",
        ...allWell("client"),
        "client deposits: untried",
        "client deposit: ok",
        "client withdrawals: untried",
        "client withdrawal: ok",
        "client conversions: untried",
        "client conversion: ok",
        "client conversionPairs: ok",
        "client addressBook: ok",
        "credit clients: ok",
        "credit paymentRails: ok",
        "credit receivables: ok",
        "credit creditAccounts: ok",
        "- pageSize: ok",
        "- paging: ok",
      ])
      expect(service.count(`/clients/${uuid(602)}/accounts`)).toBeGreaterThan(0)
      expect(service.count("/accounts")).toBe(0)
    }),
  )

  it.scopedLive("warns of a guessed list that is not there, and of nothing worse", () =>
    Effect.gen(function* () {
      const service = yield* imitate({ addressBook: null })
      const { code, out } = yield* run([], { variables: credentials(service.url) })
      expect(code).toBe(0)
      expect(out).toContain(
        "not there addressBook         GET /destinations: answers 404: there is no such path",
      )
      expect(out).toContain(
        "Set interface.paths.addressBook to its path, or to null if the service has none.",
      )
      expect(out).toContain("default: all is well, 1 warning.")
    }),
  )

  it.scopedLive("takes null for the items of a list that has none", () =>
    Effect.gen(function* () {
      const service = yield* imitate({ nullForNone: true, entries: 0 })
      const { code, out } = yield* run([], { variables: credentials(service.url) })
      expect([code, out]).toEqual([0, expect.stringContaining("default: all is well.")])
    }),
  )

  it.scopedLive("warns of a service that does not say when it answered", () =>
    Effect.gen(function* () {
      const service = yield* imitate({ dated: false })
      const { code, out } = yield* run(["--json"], { variables: credentials(service.url) })
      expect([code, verdictsIn(out).at(-1)]).toEqual([0, "- clock: wrong warning"])
      const human = yield* run([], { variables: credentials(service.url) })
      expect(human.out).toMatch(/clock +none of the \d+ answers has a Date header: nothing proves when/)
      expect(human.out).toContain("default: all is well, 1 warning.")
    }),
  )

  it.scopedLive("says whether a subscription would deliver events to webhook.publicUrl", () =>
    Effect.gen(function* () {
      const service = yield* imitate()
      const verdict = (publicUrl: string) =>
        Effect.map(
          run(["--json"], {
            variables: { ...credentials(service.url), TIEOUT_WEBHOOK_PUBLIC_URL: publicUrl },
          }),
          ({ code, out }) => [code, verdictsIn(out).at(-1)],
        )
      expect(yield* verdict("https://Books.example.com/webhooks/{connection}")).toEqual([
        0,
        "- subscriptions: ok",
      ])
      // The listener serves its path alone.
      const slash = yield* run([], {
        variables: {
          ...credentials(service.url),
          TIEOUT_WEBHOOK_PUBLIC_URL: "https://books.example.com/webhooks/{connection}/",
        },
      })
      expect(slash.out).toContain(
        "none of the 1 that there are delivers to webhook.publicUrl; one differs from it by a slash at its end: nothing would deliver events",
      )
      expect(yield* verdict("https://books.example.com/webhooks/other")).toEqual([
        0,
        "- subscriptions: wrong warning webhook.publicUrl",
      ])
      const human = yield* run([], {
        variables: { ...credentials(service.url), TIEOUT_WEBHOOK_PUBLIC_URL: "https://else.example.com/" },
      })
      expect(human.out).toContain(
        "none of the 1 that there are delivers to webhook.publicUrl: nothing would deliver events",
      )
    }),
  )

  it.scopedLive("names the settings that are wrong", () =>
    Effect.gen(function* () {
      const service = yield* imitate({
        items: "data.rows",
        amount: "value",
        cursor: "cursor",
        statement: "/transactions",
      })
      const items = yield* run(["--json"], { variables: credentials(service.url) })
      expect(items.code).toBe(1)
      expect(verdictsIn(items.out)[0]).toBe("organization accounts: wrong error interface.paging.itemsField")
      // Nothing is said of lists that could not be opened.
      expect(items.out.match(/no list could be read/g)).toHaveLength(2)
      const file = yield* written("interface: { paging: { itemsField: data.rows } }")
      const { code, out } = yield* run(["--json"], { file, variables: credentials(service.url) })
      expect(code).toBe(1)
      expect(verdictsIn(out).filter((verdict) => verdict.includes("error"))).toEqual([
        "organization statement: notThere error interface.paths.statement",
        "organization deposits: wrong error interface.money.amountField",
        "organization deposit: wrong error interface.money.amountField",
        "organization withdrawals: wrong error interface.money.amountField",
        "organization withdrawal: wrong error interface.money.amountField",
        "- paging: wrong error interface.paging.cursorParam",
      ])
    }),
  )

  it.scopedLive("says which setting is for one list alone, and takes it", () =>
    Effect.gen(function* () {
      const service = yield* imitate({
        strict: true,
        apart: { deposits: { items: "rows", cursor: "cursor", size: "limit" } },
      })
      const ownParameters =
        "interface: { lists: { deposits: { cursorParam: cursor, sizeParam: limit, size: 2 } } }"
      const before = yield* run(["--json"], {
        file: yield* written(ownParameters),
        variables: credentials(service.url),
      })
      expect(verdictsIn(before.out)).toContain(
        "organization deposits: wrong error interface.paging.itemsField",
      )
      expect(before.out).toContain(
        'Set interface.paging.itemsField to \\"rows\\", or interface.lists.deposits.itemsField where only this list differs.',
      )
      const right = yield* written(ownParameters.replace("size: 2", "size: 2, itemsField: rows"))
      const misnamed = yield* run(["--json"], {
        file: yield* written(
          "interface: { lists: { deposits: { itemsField: rows, cursorParam: page, sizeParam: limit, size: 2 } } }",
        ),
        variables: credentials(service.url),
      })
      expect(verdictsIn(misnamed.out).filter((line) => line.startsWith("- pag"))).toEqual([
        "- pageSize: ok",
        "- paging: ok",
        "- pageSize: ok",
        "- paging: wrong error interface.lists.deposits.cursorParam",
      ])
      const { code, out } = yield* run([], { file: right, variables: credentials(service.url) })
      expect([code, out]).toEqual([0, expect.stringContaining("all is well")])
      const asked = service.calls.length
      expect(yield* readAll(right, service)).toEqual([3, 5, 3, 1, 1])
      expect(
        service.calls
          .slice(asked)
          .map(({ path }) => path)
          .filter((path) => path.startsWith("/deposits")),
      ).toEqual(["/deposits?limit=2", "/deposits?limit=2&cursor=%2Fdeposits%3A2"])
    }),
  )

  it.scopedLive("does not blame the path of statements where only some accounts have none", () =>
    Effect.gen(function* () {
      const service = yield* imitate({ absent: [1, 3] })
      const { code, out } = yield* run(["--json"], { variables: credentials(service.url) })
      expect(code).toBe(1)
      expect(verdictsIn(out).filter((verdict) => verdict.includes("statement"))).toEqual([
        "organization statement: wrong error",
      ])
      const human = yield* run([], { variables: credentials(service.url) })
      expect(human.out).toContain(
        "GET /accounts/{accountId}/statement: 2 of the 3 accounts that were asked for answer 404; others: no rows",
      )
      expect(human.out).toContain(
        "The path is right. Ask the partner why these accounts have no statement; until they have one, each is a finding that a close can accept.",
      )
    }),
  )

  it.scopedLive("distinguishes a refused page size from an unknown parameter", () =>
    Effect.gen(function* () {
      const service = yield* imitate({ size: "limit", strict: true })
      const { out } = yield* run(["--json"], { variables: credentials(service.url) })
      expect(verdictsIn(out)[0]).toBe("organization accounts: wrong error interface.paging.sizeParam")
    }),
  )

  it.scopedLive(
    "says what is wrong with the credentials and the address, once, by the names of the variables",
    () =>
      Effect.gen(function* () {
        const service = yield* imitate({}, (_, response) => json(response, { error: "invalid_client" }, 401))
        const refused = yield* run([], { variables: credentials(service.url) })
        expect([refused.code, refused.out]).toEqual([1, ""])
        expect(refused.error).toBe(
          "POST /oauth/token answered 401: the credentials are refused (invalid_client). Check TIEOUT_CLIENT_ID, TIEOUT_CLIENT_SECRET and TIEOUT_SCOPE, and that they belong to this base address\n",
        )
        const away = yield* run([], { variables: credentials("http://127.0.0.1:1/api/v1") })
        expect([away.code, away.out]).toEqual([75, ""])
        expect(away.error).toContain("failed (ECONNREFUSED)")
        const missing = yield* run([], { variables: {} })
        expect(missing.code).toBe(2)
        expect(missing.error).toContain("TIEOUT_BASE_URL: is not set")
      }),
  )

  it.scopedLive("does not repeat an answer that it cannot read", () =>
    Effect.gen(function* () {
      const token = yield* imitate({}, (_, response) => {
        response
          .writeHead(200, { "content-type": "application/json" })
          .end('{"access_token":"eyJ-half-a-token')
      })
      const { code, error } = yield* run([], { variables: credentials(token.url) })
      expect(code).toBe(1)
      expect(error).toContain("POST /oauth/token answers 200: the answer is not complete JSON.")
      expect(error).not.toContain("eyJ")
      const cut = yield* serve((_, response) => {
        response
          .writeHead(200, { "content-type": "application/json" })
          .end(`{"items":[{"name":"${personal[1]}`)
      })
      const { out } = yield* run([], { variables: credentials(cut.url) })
      expect(out).toContain(
        "WRONG     accounts            GET /accounts: answers 200: the answer is not complete JSON",
      )
    }),
  )

  it.scopedLive("continues with the other connections, and names the one that failed", () =>
    Effect.gen(function* () {
      const service = yield* imitate()
      const file = yield* written("connections: { default: {}, acme-uk: {} }")
      const { code, out } = yield* run([], { file, variables: credentials(service.url) })
      expect(code).toBe(2)
      expect(out).toContain("default: all is well.")
      expect(out).toContain("\nacme-uk did not finish: TIEOUT_ACME_UK_BASE_URL: is not set")
    }),
  )

  it.scopedLive("says where to change what a connection has in a section of its own", () =>
    Effect.gen(function* () {
      const service = yield* imitate()
      const file = yield* written(
        "connections: { default: { interface: { paths: { accounts: /nowhere } } } }",
      )
      const { out } = yield* run([], { file, variables: credentials(service.url) })
      expect(out).toContain("Set interface.paths.accounts to its path")
      expect(out).toContain(
        "What connections.default.interface has counts for this connection: change it there, not under interface.",
      )
    }),
  )
})

const other = {
  items: "data.rows",
  pageInfo: "meta.page",
  cursor: "cursor",
  size: "limit",
  amount: "value",
  currency: "ccy",
  statement: "/transactions",
  addressBook: "/address-book",
  receivables: "/funding-requests",
  creditAccounts: "/credit/accounts",
  publicKeys: "/webhooks/keys",
} as const

const otherSettings = {
  paging: { cursorParam: "cursor", sizeParam: "limit", itemsField: "data.rows", pageInfoField: "meta.page" },
  money: { amountField: "value", currencyField: "ccy" },
}

describe("doctor --discover", () => {
  it.scopedLive.each([{ strict: false }, { strict: true }])(
    "prints the settings by which the connector reads a service of other names ($strict)",
    ({ strict }) =>
      Effect.gen(function* () {
        const service = yield* imitate({ ...other, strict })
        const { code, out } = yield* run(["--discover"], { variables: credentials(service.url) })
        expect(code).toBe(0)
        expect(parse(out)).toEqual({
          interface: {
            ...otherSettings,
            paths: {
              statement: "/accounts/{accountId}/transactions",
              addressBook: "/address-book",
              publicKeys: "/webhooks/keys",
            },
          },
        })
        expect(out).toContain("# Called with these settings: default: all is well.")
        const small = `${out}\n`.replace("paging:\n", "paging:\n    size: 2\n")
        expect(yield* readAll(yield* written(small), service)).toEqual([3, 5, 3, 1, 1])
        expect(service.calls.every(({ method, path }) => method === "GET" || path === "/oauth/token")).toBe(
          true,
        )
      }),
  )

  it.scopedLive("finds a statement that takes its account as a parameter", () =>
    Effect.gen(function* () {
      const service = yield* imitate({ statement: "?accountId", strict: true, size: "page[limit]" })
      const { code, out } = yield* run(["--discover"], { variables: credentials(service.url) })
      expect([code, parse(out)]).toEqual([
        0,
        {
          interface: {
            paging: { sizeParam: "page[limit]" },
            paths: { statement: "/statement-entries?accountId={accountId}" },
          },
        },
      ])
      expect(out).toContain("# Called with these settings: default: all is well.")
      expect(yield* readAll(yield* written(out), service)).toEqual([3, 5, 3, 1, 1])
    }),
  )

  it.scopedLive.each(["page_cursor", "pageCursor", "next_cursor", "startAfter"])(
    "finds a cursor named %s",
    (cursor) =>
      Effect.gen(function* () {
        const service = yield* imitate({ cursor })
        const { code, out } = yield* run(["--discover"], { variables: credentials(service.url) })
        expect([code, parse(out)]).toEqual([0, { interface: { paging: { cursorParam: cursor } } }])
      }),
  )

  it.scopedLive.each(["overlap", "empty"] as const)(
    "finds a cursor where between two pages there is an %s",
    (border) =>
      Effect.gen(function* () {
        const service = yield* imitate({ cursor: "cursor", size: null, pageSize: 2, border })
        const { code, out } = yield* run(["--discover"], { variables: credentials(service.url) })
        expect(code).toBe(0)
        expect(parse(out)).toEqual({ interface: { paging: { cursorParam: "cursor", sizeParam: null } } })
        expect(out).toContain("# Called with these settings: default: all is well.")
        const profile = `${out}\n`
        expect(yield* readAll(yield* written(profile), service)).toEqual(
          border === "empty" ? [3, 5, 3, 1, 1] : [4, 8, 4, 1, 1],
        )
      }),
  )

  it.scopedLive("finds lists that each have a field of their own for their items", () =>
    Effect.gen(function* () {
      const service = yield* imitate({
        pageSize: 2,
        apart: {
          accounts: { items: "accounts" },
          statement: { items: "data.entries" },
          deposits: { items: "deposits" },
          withdrawals: { items: "withdrawals", pageInfo: "paging" },
          "conversion-pairs": { items: "pairs" },
          destinations: { items: "addressBook" },
          "public-keys": { items: "keys" },
        },
      })
      const { code, out } = yield* run(["--discover"], { variables: credentials(service.url) })
      expect([code, parse(out)]).toEqual([
        0,
        {
          interface: {
            lists: {
              accounts: { itemsField: "accounts" },
              statement: { itemsField: "data.entries" },
              deposits: { itemsField: "deposits" },
              withdrawals: { itemsField: "withdrawals", pageInfoField: "paging" },
              conversionPairs: { itemsField: "pairs" },
              addressBook: { itemsField: "addressBook" },
              publicKeys: { itemsField: "keys" },
            },
          },
        },
      ])
      expect(out).toContain("# Called with these settings: default: all is well.")
      expect(yield* readAll(yield* written(out), service)).toEqual([3, 5, 3, 1, 1])
    }),
  )

  it.scopedLive("keeps one name for most lists, and sets those that differ", () =>
    Effect.gen(function* () {
      const service = yield* imitate({
        items: "data",
        apart: { destinations: { items: "entries" }, "credit-accounts": { items: "accounts" } },
      })
      const file = yield* written("connections: { default: { surfaces: [organization, credit] } }")
      const { code, out } = yield* run(["--discover"], { file, variables: credentials(service.url) })
      const { interface: profile } = parse(out)
      expect([code, profile]).toEqual([
        0,
        {
          paging: { itemsField: "data" },
          lists: { addressBook: { itemsField: "entries" }, creditAccounts: { itemsField: "accounts" } },
        },
      ])
    }),
  )

  it.scopedLive("finds the client and credit surfaces' names too, below each connection's own section", () =>
    Effect.gen(function* () {
      const service = yield* imitate(other)
      const file = yield* written("connections: { default: { surfaces: [client, credit] }, other: {} }")
      const { code, out } = yield* run(["--discover", "--connection", "default"], {
        file,
        variables: credentials(service.url),
      })
      expect(code).toBe(0)
      const { paging } = otherSettings
      expect(parse(out)).toEqual({
        connections: {
          default: {
            surfaces: ["client", "credit"],
            interface: {
              paging,
              paths: {
                receivables: "/funding-requests",
                creditAccounts: "/credit/accounts",
                publicKeys: "/webhooks/keys",
              },
              clientPaths: { statement: "/accounts/{accountId}/transactions", addressBook: "/address-book" },
            },
          },
        },
      })
    }),
  )

  it.scopedLive("asks a person about a list without PageInfo, and takes it as whole where that is set", () =>
    Effect.gen(function* () {
      const service = yield* imitate({ apart: { deposits: { pageInfo: "", size: null } } })
      const { out } = yield* run(["--discover"], { variables: credentials(service.url) })
      expect(out).toContain(
        "# interface.lists.deposits.pageInfoField could not be found out: its answers have none; set null if the partner says that this list always comes whole",
      )
      const whole = yield* written("interface: { lists: { deposits: { pageInfoField: null } } }")
      const { code } = yield* run([], { file: whole, variables: credentials(service.url) })
      expect(code).toBe(0)
      expect(yield* readAll(whole, service)).toEqual([3, 5, 3, 1, 1])
      // Three rows, as many as were asked for, may be the first of more.
      const cut = yield* written("interface: { lists: { deposits: { pageInfoField: null, size: 3 } } }")
      const { out: verdicts } = yield* run(["--json"], { file: cut, variables: credentials(service.url) })
      expect(verdictsIn(verdicts)).toContain("organization deposits: wrong error interface.paging.sizeParam")
      expect(yield* Effect.flip(readAll(cut, service))).toMatchObject({
        reason: "BadResponse",
        detail: "it holds 3 items, as many as were asked for, and nothing in it says whether more follow",
      })
    }),
  )

  it.scopedLive("asks a person about a list that is the answer itself, where others have pages", () =>
    Effect.gen(function* () {
      const service = yield* imitate({ apart: { destinations: { items: "" } } })
      const { code, out } = yield* run(["--discover"], { variables: credentials(service.url) })
      expect([code, parse(out)]).toEqual([0, { interface: { lists: { addressBook: { itemsField: "" } } } }])
      expect(out).toContain(
        "# interface.lists.addressBook.sizeParam could not be found out: its answers are the list itself; ask the partner whether it always comes whole",
      )
      expect(yield* readAll(yield* written(out), service)).toEqual([3, 5, 3, 1, 1])
    }),
  )

  it.scopedLive("tries paging on a list that has pages, whatever the longest list is", () =>
    Effect.gen(function* () {
      const service = yield* imitate({ apart: { accounts: { items: "", size: null } }, entries: 2 })
      const file = yield* written('interface: { lists: { accounts: { itemsField: "" } } }')
      const { code, out } = yield* run(["--json"], { file, variables: credentials(service.url) })
      expect([code, verdictsIn(out).slice(-2)]).toEqual([0, ["- pageSize: ok", "- paging: ok"]])
    }),
  )

  it.scopedLive("finds credit accounts below each client, whose rows name none", () =>
    Effect.gen(function* () {
      const service = yield* imitate({ creditAccounts: `/clients/${uuid(602)}/credit-accounts` })
      const file = yield* written("connections: { default: { surfaces: [credit] } }")
      const { code, out } = yield* run(["--discover"], { file, variables: credentials(service.url) })
      expect([code, parse(out)]).toEqual([
        0,
        { interface: { paths: { creditAccounts: "/clients/{clientId}/credit-accounts" } } },
      ])
      expect(out).toContain("# Called with these settings: default: all is well.")
      const right = yield* written(
        'connections: { default: { surfaces: [credit] } }\ninterface: { paths: { creditAccounts: "/clients/{clientId}/credit-accounts" } }',
      )
      const examined = yield* run(["--json"], { file: right, variables: credentials(service.url) })
      expect(verdictsIn(examined.out)).toContain("credit creditAccounts: ok")
    }),
  )

  it.scopedLive("says so where every default holds", () =>
    Effect.gen(function* () {
      const service = yield* imitate()
      const { code, out } = yield* run(["--discover"], { variables: credentials(service.url) })
      expect([code, out]).toEqual([
        0,
        "# Every name is as the defaults have it; there is nothing to set.\n# Called with these settings: default: all is well.\n",
      ])
    }),
  )

  it.scopedLive("leaves keys alone that are shown one by one", () =>
    Effect.gen(function* () {
      const service = yield* imitate()
      const keys = "/webhooks/keys/{id}"
      const variables = { ...credentials(service.url), TIEOUT_INTERFACE_PATHS_PUBLIC_KEYS: keys }
      const { code, out } = yield* run(["--discover", "--json"], { variables })
      expect(code).toBe(0)
      const [connection] = list(field(JSON.parse(out), "connections"))
      expect(list(field(connection, "undetermined")).map((one) => field(one, "setting"))).toEqual([
        "interface.paths.publicKeys",
      ])
      expect(field(field(field(connection, "profile"), "paths"), "publicKeys")).toBe(keys)
      expect(service.calls.filter(({ path }) => path.startsWith("/webhook"))).toEqual([])
    }),
  )

  it.scopedLive("names what it could not find out, and why", () =>
    Effect.gen(function* () {
      const service = yield* imitate({
        addressBook: null,
        size: null,
        entries: 1,
        statement: "/what-happened",
      })
      const { code, out } = yield* run(["--discover", "--json"], { variables: credentials(service.url) })
      expect(code).toBe(1)
      const [connection] = list(field(JSON.parse(out), "connections"))
      const tried = "there is nothing at /accounts/{accountId}/statement, "
      const undetermined = list(field(connection, "undetermined"))
      expect(undetermined.map((one) => field(one, "setting"))).toEqual([
        "interface.paths.statement",
        "interface.paths.addressBook",
        "interface.paging.sizeParam",
        "interface.paging.cursorParam",
      ])
      expect(String(field(undetermined[0], "reason")).startsWith(tried)).toBe(true)
      expect(field(undetermined[3], "reason")).toBe("no list has a second page")
      const profile = field(connection, "profile")
      // A list that was not found is not reported as absent.
      expect(field(field(profile, "paths"), "addressBook")).toBe("/destinations")
      expect(field(field(profile, "paging"), "sizeParam")).toBe(null)
    }),
  )

  it.scopedLive("does not guess a documented path that is not there", () =>
    Effect.gen(function* () {
      const service = yield* imitate()
      const file = yield* written("interface: { paths: { deposits: /payins } }")
      const { out } = yield* run(["--discover"], { file, variables: credentials(service.url) })
      expect(out).toContain(
        "# interface.paths.deposits could not be found out: there is nothing at /payins; this path is documented, another one cannot be guessed: ask the partner for it",
      )
    }),
  )
})
