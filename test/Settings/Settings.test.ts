import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Duration, Effect, Either, Layer, Option, Redacted } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { formatNames } from "../../src/Format/Formats.ts"
import { defaultInterface } from "../../src/Settings/Interface.ts"
import { everything, type Needs } from "../../src/Settings/Secrets.ts"
import { Settings, SettingsError, SettingsSource } from "../../src/Settings.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"

let folder = ""
beforeAll(() => {
  folder = temporaryFolder()
})

const write = (text: string) => {
  const file = join(folder, "tieout.yaml")
  writeFileSync(file, text)
  return file
}

const read = (text: string, variables: Record<string, string> = {}) =>
  Effect.runSync(
    Effect.either(Settings.pipe(Effect.provide(Settings.from({ file: write(text), variables })))),
  )

const settings = (text: string, variables: Record<string, string> = {}): Settings =>
  Either.getOrThrowWith(read(text, variables), (error) => error)

const mistakes = (text: string, variables: Record<string, string> = {}): ReadonlyArray<string> => {
  const result = read(text, variables)
  if (Either.isRight(result)) return []
  return result.left.mistakes.map((line) => line.replace(`${folder}/`, ""))
}

const connection = (name: string, text: string, variables: Record<string, string>) =>
  Effect.runSync(Effect.either(settings(text, variables).connection(name)))

const secrets = {
  TIEOUT_BASE_URL: "https://api.example.com/api/v1/",
  TIEOUT_CLIENT_ID: "client",
  TIEOUT_CLIENT_SECRET: "hunter2",
  TIEOUT_SCOPE: "accounts:read deposits:read",
}

describe("settings that are right", () => {
  it("are the defaults where nothing is set", () => {
    const it = settings("")
    expect(it.connections).toEqual({ default: { surfaces: ["organization"] } })
    expect(it.accounting).toEqual({
      timeZone: "UTC",
      baseCurrency: "EUR",
      flatWithdrawalFee: "inside",
      receivables: {
        view: "lender",
        repaymentAmount: "outstanding",
        interest: "as_stated",
        interestBetweenReads: "0",
      },
      valuation: {
        ...{ method: "average", rates: "file", maxRateAgeDays: 4, books: {} },
        monetaryRoles: [
          ...["cash", "receivable_principal", "receivable_interest", "deferred_interest", "loan_payable"],
          ...["interest_payable", "loan_clearing", "conversions_in_transit"],
        ],
      },
    })
    expect(it.interface).toEqual(defaultInterface)
    expect(it.chart.cash).toEqual({ code: "1010", name: "Assets:Partner:{currency}:{rail}:{account}" })
    expect(it.rules).toEqual([])
    expect(Duration.toSeconds(it.limits.attemptTimeout)).toBe(30)
    expect(it.limits.quarantine).toEqual({ maxRows: 10, maxShare: 0.01 })
    expect(it.webhook).toEqual({
      port: 8787,
      publicUrl: null,
      host: "0.0.0.0",
      path: "/webhooks/{connection}",
    })
    expect(it.status).toEqual({ port: 8788, host: "127.0.0.1", names: [], open: false })
    expect(it.schedule).toEqual({
      nightly: "30 3 * * *",
      jitter: Duration.zero,
      export: null,
      out: "exports",
    })
    expect(it.alerts).toEqual({
      webhook: null,
      command: null,
      on: ["failure", "findings", "staleness"],
      staleAfter: Duration.hours(26),
    })
    expect(Option.isNone(it.statusToken)).toBe(true)
    expect(it.dataDir).toMatch(/tieout$/)
    expect(Option.isNone(it.databaseUrl)).toBe(true)
  })

  it("are unchanged when every line of the example is uncommented", () => {
    const example = readFileSync("config/tieout.example.yaml", "utf8")
    const uncommented = example
      .split("\n")
      .map((line) => (/^#(?:[a-z]| {2,}[a-zA-Z_][a-zA-Z_0-9-]*:)/.test(line) ? line.slice(1) : line))
      .join("\n")
    const { connection: _a, file: _b, isFileSet: isCommentSet, profile: _e, ...defaults } = settings(example)
    const {
      connection: _c,
      file: _d,
      isFileSet: isKeySet,
      profile: _f,
      ...fromExample
    } = settings(uncommented)
    expect([isCommentSet, isKeySet]).toEqual([false, true])
    expect(fromExample).toEqual(defaults)
    expect(uncommented.split("\n").filter((line) => /^[a-z]+:/.test(line))).toHaveLength(16)
    expect(uncommented).toContain("\n      PS512: {")
  })

  it("take every key from the environment, which beats the file", () => {
    const it = settings("accounting: { timeZone: Europe/Berlin, baseCurrency: USD }", {
      TIEOUT_ACCOUNTING_TIME_ZONE: "Asia/Tokyo",
      TIEOUT_INTERFACE_PAGING_SIZE: "500",
      TIEOUT_INTERFACE_PATHS_DEPOSITS: "null",
      TIEOUT_CHART_DEPOSITS_CLEARING_CODE: "0042",
      TIEOUT_CONNECTIONS_DEFAULT_SURFACES: "organization, credit",
      TIEOUT_LIMITS_MAX_RETRY_AFTER: "2 minutes",
      TIEOUT_RULES: `[{ match: { reference: "^Payroll" }, account: { code: "4120", name: "Expenses:Payroll" } }]`,
      TIEOUT_LIMITS_TRIES: "",
      TIEOUT_SCHEDULE_EXPORT: "journal, hledger",
      TIEOUT_SCHEDULE_NIGHTLY: "null",
    })
    expect(it.schedule).toMatchObject({ nightly: null, export: ["journal", "hledger"] })
    expect(it.accounting.timeZone).toBe("Asia/Tokyo")
    expect(it.accounting.baseCurrency).toBe("USD")
    expect(it.interface.paging.size).toBe(500)
    expect(it.interface.paths.deposits).toBeNull()
    expect(it.chart.deposits_clearing.code).toBe("0042")
    expect(it.connections.default?.surfaces).toEqual(["organization", "credit"])
    expect(Duration.toMinutes(it.limits.maxRetryAfter)).toBe(2)
    expect(it.rules[0]?.match.reference).toBe("^Payroll")
    expect(it.limits.tries).toBe(5)
  })

  it("take the token of the status page from the environment only", () => {
    const it = settings("status: { host: 0.0.0.0 }", { TIEOUT_STATUS_TOKEN: "a-token-of-128-bits-or-more" })
    expect(Option.map(it.statusToken, Redacted.value)).toEqual(Option.some("a-token-of-128-bits-or-more"))
    expect(mistakes("status: { token: hunter2 }")).toEqual([
      "tieout.yaml:1: status.token: credentials never stand in this file: remove the key and set TIEOUT_STATUS_TOKEN instead",
    ])
  })

  it("may have sections whose keys are all commented out", () => {
    expect(settings("connections:\n  default:\nlimits:\nrules:\n").limits.tries).toBe(5)
  })

  it("leave other programs' variables alone", () => {
    expect(mistakes("", { TIEOUT_KILL_AT: "page-committed", TIEOUT_E2E: "1" })).toEqual([])
  })
})

describe("a connection", () => {
  it("joins its settings with the credentials of the environment", () => {
    const found = Either.getOrThrow(connection("default", "", secrets))
    expect({ ...found, clientSecret: Redacted.value(found.clientSecret) }).toEqual({
      name: "default",
      surfaces: ["organization"],
      interface: defaultInterface,
      timeZone: "UTC",
      baseUrl: "https://api.example.com/api/v1",
      clientId: "client",
      clientSecret: "hunter2",
      scope: "accounts:read deposits:read",
      proxy: Option.none(),
    })
  })

  it("lays its own interface over the common one", () => {
    const text = `
connections:
  default:
  acme-uk: { surfaces: [client], interface: { paging: { size: 7 } } }
interface: { paging: { size: 50, cursorParam: cursor } }`
    const variables = Object.fromEntries(
      Object.entries(secrets).map(([name, value]) => [name.replace("TIEOUT_", "TIEOUT_ACME_UK_"), value]),
    )
    const found = Either.getOrThrow(connection("acme-uk", text, variables))
    expect(found.interface.paging).toEqual({ ...defaultInterface.paging, size: 7, cursorParam: "cursor" })
    expect(found.surfaces).toEqual(["client"])
  })

  it("names all four variables when they are missing, and only then needs them", () => {
    const result = connection("default", "", {})
    expect(Either.isLeft(result) && result.left).toBeInstanceOf(SettingsError)
    expect(Either.isLeft(result) && result.left.mistakes).toEqual([
      "TIEOUT_BASE_URL: is not set, expected the service's base address, https://host/api/v1",
      "TIEOUT_CLIENT_ID: is not set, expected the issued OAuth client identifier",
      "TIEOUT_CLIENT_SECRET: is not set, expected the issued OAuth client secret",
      "TIEOUT_SCOPE: is not set, expected the scopes issued to you, separated by spaces",
    ])
  })

  it.each([
    [
      "http://api.example.com/api/v1",
      "begins with http://; expected https:// (http:// only for this machine itself)",
    ],
    ["api.example.com", "is no address; expected https://host/api/v1"],
    ["https://me:hunter2@example.com", "holds a user name or password; expected https://host/api/v1 without"],
    [
      "https://example.com/?a=b",
      "has a query or fragment; expected https://host/api/v1 and nothing after it",
    ],
  ])("refuses the address %s", (address, text) => {
    const result = connection("default", "", { ...secrets, TIEOUT_BASE_URL: address })
    expect(Either.isLeft(result) && result.left.mistakes).toEqual([`TIEOUT_BASE_URL: ${text}`])
  })

  it.each(["http://127.0.0.1:8080/api/v1", "http://localhost:1/api/v1", "http://[::1]:1/api/v1"])(
    "accepts %s, which is this machine",
    (address) => {
      const result = connection("default", "", { ...secrets, TIEOUT_BASE_URL: address })
      expect(Either.isRight(result) && result.right.baseUrl).toBe(address)
    },
  )

  it("that is not known is answered with the nearest one", () => {
    const result = connection("defualt", "", secrets)
    expect(Either.isLeft(result) && result.left.message).toBe(
      'there is no connection named "defualt"; known: default\nDid you mean default?',
    )
  })

  it.each(["constructor", "__proto__", "toString"])("that is not known may be named %s", (name) => {
    const result = connection(name, "", secrets)
    expect(Either.isLeft(result) && result.left.message).toContain(
      `there is no connection named "${name}"; known: default`,
    )
  })
})

describe("mistakes in the settings", () => {
  it("tell of a server that is expected and not named", () => {
    expect(mistakes("database: { required: true }")).toEqual([
      "DATABASE_URL: is not set, and database.required says that a server is expected",
    ])
    expect(
      settings("database: { required: true }", { DATABASE_URL: "postgres://db/books" }).database,
    ).toEqual({
      required: true,
    })
  })

  it("within what a variable holds are its, and not the file's", () => {
    expect(
      mistakes("accounting: { baseCurrency: EUR }", {
        TIEOUT_RULES: '[{ match: { counterparty: "(" }, account: { code: "1", name: "Expenses:X" } }]',
        TIEOUT_RECONCILE_MATERIALITY: "{ EUR: 10 }",
        TIEOUT_ALERTS_ON: "failure, never",
        TIEOUT_CONNECTIONS: "{ default: { surface: [organization] } }",
        TIEOUT_CONNECTIONS_DEFAULT_SURFACES: "clients",
      }).map((line) => line.split(": ").slice(0, 2)),
    ).toEqual([
      ["TIEOUT_CONNECTIONS", "connections.default.surface"],
      ["TIEOUT_CONNECTIONS_DEFAULT_SURFACES", expect.stringContaining("connections.default.surfaces")],
      ["TIEOUT_RULES", "rules[0].match.counterparty"],
      ["TIEOUT_RECONCILE_MATERIALITY", "reconcile.materiality.EUR"],
      ["TIEOUT_ALERTS_ON", "alerts.on[1]"],
    ])
  })

  it("are reported all at once, in the order of the file, with place, finding and expectation", () => {
    expect(
      mistakes(
        `conections: {}
connections:
  default: { surfaces: [organization, clients], clientSecret: hunter2 }
  Acme: {}
accounting:
  timeZone: Mars/Phobos
  baseCurrency: eur
interface:
  paging: { size: 0 }
  paths: { deposits: deposits, accounts: null }
limits: { tries: five, runDeadline: 3 }
timeZone: UTC
webhook: 3
`,
        {
          TIEOUT_LIMITS_CONCURRENCY: "many",
          TIEOUT_ACOUNTING_TIME_ZONE: "UTC",
          DATABASE_URL: "mysql://u:hunter2@h",
        },
      ),
    ).toEqual([
      "TIEOUT_ACOUNTING_TIME_ZONE: unknown variable; did you mean TIEOUT_ACCOUNTING_TIME_ZONE?",
      "DATABASE_URL: expected an address that begins with postgres://",
      "tieout.yaml:1: conections: unknown key; did you mean connections?",
      "tieout.yaml:3: connections.default.clientSecret: credentials never stand in this file: remove the key and set TIEOUT_CLIENT_SECRET instead",
      'tieout.yaml:3: connections.default.surfaces[1]: found "clients", expected organization or client or credit',
      'tieout.yaml:6: accounting.timeZone: found "Mars/Phobos", expected an IANA time zone such as Europe/Berlin or UTC',
      'tieout.yaml:7: accounting.baseCurrency: found "eur", expected an ISO 4217 currency code such as EUR (or USDT, USDC)',
      "tieout.yaml:9: interface.paging.size: found 0, expected a number between 1 and 10000",
      "tieout.yaml:10: interface.paths.accounts: found nothing, expected a path that starts with /, perhaps with parameters (?a=b)",
      'tieout.yaml:10: interface.paths.deposits: found "deposits", expected a path that starts with /, perhaps with parameters (?a=b) or null',
      'TIEOUT_LIMITS_CONCURRENCY: found "many", expected a whole number of at least 1',
      'tieout.yaml:11: limits.runDeadline: found 3, expected a span of time above zero with its unit, such as "30 seconds", "5 m" or "2 hours"',
      'tieout.yaml:11: limits.tries: found "five", expected a whole number of at least 1',
      "tieout.yaml:12: timeZone: unknown key; did you mean accounting.timeZone?",
      "tieout.yaml:13: webhook: found 3, expected a section with keys",
    ])
  })

  it.each([
    ["connections: {}", "tieout.yaml:1: connections: expected at least one connection"],
    [
      "connections: { A_b: {} }",
      "tieout.yaml:1: connections.A_b: expected a name of at most 36 lower-case letters, digits and single dashes",
    ],
    [
      `connections: { ${"a".repeat(36)}: {}, ${"a".repeat(37)}: {} }`,
      `tieout.yaml:1: connections.${"a".repeat(37)}: expected a name of at most 36 lower-case letters, digits and single dashes`,
    ],
    [
      "chart: { fees: { code: 6850 } }",
      'tieout.yaml:1: chart.fees.code: found 6850, expected an account code in quotes such as "6850", at most 64 characters, none of them " \' ; or ,; placeholders: {currency} {account} {rail} {client}',
    ],
    [
      `chart: { fees: { name: "Expenses:Bank (UK):{currency}" } }`,
      'tieout.yaml:1: chart.fees.name: found "Expenses:Bank (UK):{currency}", expected an account name such as "Expenses:Fees:{currency}", at most 255 characters, parts separated by single colons, each beginning with a letter or digit, none with " \' ; | ( ) [ ] or two spaces in a row; placeholders: {currency} {account} {rail} {client}',
    ],
    [
      `chart: { fees: { name: "Expenses:{curency}" } }`,
      'tieout.yaml:1: chart.fees.name: found "Expenses:{curency}", expected an account name such as "Expenses:Fees:{currency}", at most 255 characters, parts separated by single colons, each beginning with a letter or digit, none with " \' ; | ( ) [ ] or two spaces in a row; placeholders: {currency} {account} {rail} {client}',
    ],
    [
      `chart: { fees: { name: "Equity:Trading:{currency}" } }`,
      "tieout.yaml:1: chart.fees.name: expected a name of its own: trading has this one already",
    ],
    [
      `chart: { cash: { name: "Assets:Cash:{currency}" } }`,
      "tieout.yaml:1: chart.cash.name: expected a name with {account} in it, since every partner account has its own cash account",
    ],
    [
      `interface: { webhook: { signedPayload: "{id}.{timestamp}" } }`,
      'tieout.yaml:1: interface.webhook.signedPayload: found "{id}.{timestamp}", expected a template that has {body} or {sha256} in it, and else only text, {id}, {timestamp} and {header:NAME}',
    ],
    [
      `interface: { webhook: { algorithms: { HS256: { keyType: ed25519 } } } }`,
      "tieout.yaml:1: interface.webhook.algorithms.HS256: expected a name as it comes in the header, of an algorithm with a public key",
    ],
    [
      `interface: { webhook: { algorithms: { RS256: { keyType: rsa, minimumBits: 1024, hash: sha256 } } } }`,
      "tieout.yaml:1: interface.webhook.algorithms.RS256.minimumBits: found 1024, expected a whole number from 2048 to 16384",
    ],
    [
      `interface: { webhook: { algorithms: { X: { keyType: ec, hash: sha256 } } } }`,
      "tieout.yaml:1: interface.webhook.algorithms.X.curve: expected P-256, P-384 or P-521",
    ],
    [
      `rules: [{ match: { reference: "(" }, account: { code: "1", name: "Expenses" } }]`,
      'tieout.yaml:1: rules[0].match.reference: found "(", expected a regular expression (Invalid regular expression: /(/u: Unterminated group)',
    ],
    [
      `rules: [{ match: { client: CLIENT7 }, account: { code: "1", name: "Expenses" } }]`,
      'tieout.yaml:1: rules[0].match.client: found "CLIENT7", expected an identifier of the service, a UUID',
    ],
    [
      `rules: [{ match: {}, account: { code: "1", name: "Expenses" } }]`,
      "tieout.yaml:1: rules[0].match: found a section, expected at least one criterion, since a rule without any would match everything",
    ],
    [
      `rules: [{ match: { currency: EUR }, account: { code: "1", name: "Expenses:A" } }, { match: { currency: USD }, account: { code: "1", name: "Expenses:B" } }]`,
      "tieout.yaml:1: rules[1].account.name: expected the name that rules[0] gives the account 1, or another code",
    ],
    [
      `reconcile: { materiality: { USD: "10", usd: "10" } }`,
      "tieout.yaml:1: reconcile.materiality.usd: expected an ISO 4217 currency code such as EUR (or USDT, USDC)",
    ],
    [
      "limits: { runDeadline: 0 s }",
      'tieout.yaml:1: limits.runDeadline: found "0 s", expected a span of time above zero with its unit, such as "30 seconds", "5 m" or "2 hours"',
    ],
    [
      "schedule: { export: [journal, xero2] }",
      `tieout.yaml:1: schedule.export[1]: found "xero2", expected an export format: ${formatNames.filter((name) => name !== "camt.053").join(", ")}`,
    ],
    [
      "formats: { books: { SECOND: { datev: { cliant: 2 } } } }",
      "tieout.yaml:1: formats.books.SECOND.datev.cliant: unknown key; did you mean client?",
    ],
    [
      "formats: { books: { SECOND: { datev: { client: many } } } }",
      'tieout.yaml:1: formats.books.SECOND.datev.client: found "many", expected a whole number from 1 to 99999 or null',
    ],
    [
      `formats: { books: { SECOND: { netsuite: { subsidiary: 7 } } } }`,
      "tieout.yaml:1: formats.books.SECOND.netsuite.subsidiary: found 7, expected text of at most 100 characters that begins with a letter or digit and holds no quotes or null",
    ],
    [
      `formats: { profiles: { qbo: { headers: { Debits: "x" } } } }`,
      "tieout.yaml:1: formats.profiles.qbo.headers.Debits: expected one of the format's headers: *JournalNo, *JournalDate, *AccountName, *Debits, *Credits, Description, Name, Currency, Location, Class",
    ],
    [
      `formats: { profiles: { qbo: { file: "{currency}.csv" }, xero: { decimalMark: "," } } }`,
      "tieout.yaml:1: formats.profiles.qbo.file: expected a file name that begins with qbo-, has each of {currency} {part} once, and ends in .csv or .txt",
    ],
    [
      `formats: { profiles: { qbo: { rowsPerFile: 0 }, xero: { decimalMark: "," } } }`,
      "tieout.yaml:1: formats.profiles.xero.decimalMark: expected another decimal mark than the delimiter",
    ],
    [
      'formats: { qbo: { description: "{kind} {iban}" } }',
      'tieout.yaml:1: formats.qbo.description: found "{kind} {iban}", expected text with no other placeholder than {kind} {description} {counterparty} {reference} {purpose} {externalReference} {transactionHash} {number} {account} {resource}, not {iban}',
    ],
    [
      'formats: { qbo: { description: "{kind} {number" } }',
      'tieout.yaml:1: formats.qbo.description: found "{kind} {number", expected text whose braces hold a placeholder each, one of {kind} {description} {counterparty} {reference} {purpose} {externalReference} {transactionHash} {number} {account} {resource}, not a single {',
    ],
    [
      `formats: { sie: { company: 'Bolaget "Nord" AB' } }`,
      String.raw`tieout.yaml:1: formats.sie.company: found "Bolaget \"Nord\" AB", expected at most 100 letters of code page 437, the first a letter or digit, without " { } \ and # or null`,
    ],
    [
      `formats: { profiles: { datev: { delimiter: "," } } }`,
      "tieout.yaml:1: formats.profiles.datev.delimiter: unknown key; did you mean formats.profiles.xero.delimiter?",
    ],
    [
      `schedule: { nightly: "every night" }`,
      'tieout.yaml:1: schedule.nightly: found "every night", expected five cron fields such as "30 3 * * *" (minute 0-59, hour 0-23, day 1-31, month 1-12, weekday 0-7) or null',
    ],
    [
      `schedule: { nightly: "99 3 * * *" }`,
      'tieout.yaml:1: schedule.nightly: found "99 3 * * *", expected five cron fields such as "30 3 * * *" (minute 0-59, hour 0-23, day 1-31, month 1-12, weekday 0-7) or null',
    ],
    [
      "alerts: { command: [] }",
      'tieout.yaml:1: alerts.command: found an empty list, expected a list of a program and its arguments, such as ["/usr/local/bin/page-me", "--team", "books"] or null',
    ],
    [
      "status: { host: 999.1.2.3 }",
      'tieout.yaml:1: status.host: found "999.1.2.3", expected a host name or an IP address without a port',
    ],
    [
      "webhook: { host: a..b }",
      'tieout.yaml:1: webhook.host: found "a..b", expected a host name or an IP address without a port',
    ],
    [
      "alerts: { webhook: http://me:hunter2@hooks.example.com/x }",
      'tieout.yaml:1: alerts.webhook: found "http://hooks.example.com/…", expected an address that begins with https:// (http:// only for this machine itself) and holds no password or null',
    ],
    ["- a", 'tieout.yaml: expected keys such as "accounting:" at the left margin'],
    [
      "a: [",
      "tieout.yaml:1: cannot be read as YAML: Flow sequence in block collection must be sufficiently indented and end with a ]",
    ],
    ["limits: {}\n---\nlimits: {}", "tieout.yaml:2: a second document begins here (---), expected one"],
    [
      `a: [${"0,".repeat(100_000)}0]`,
      "tieout.yaml:1: goes on beyond the 100000 values that settings may have",
    ],
  ])("%.40s", (text, line) => expect(mistakes(text)).toContain(line))

  const withSecrets = (needs: Option.Option<Needs>, text: string, variables: Record<string, string>) =>
    Settings.pipe(
      Effect.flatMap(({ checkSecrets }) => checkSecrets),
      Effect.provide(
        Layer.provide(
          Settings.Default,
          Layer.succeed(SettingsSource, {
            file: Option.some(write(text)),
            variables,
            needs,
          }),
        ),
      ),
      Effect.flip,
      Effect.map((error) => error.mistakes.map((line) => line.split(": ").slice(0, 2).join(": "))),
      Effect.runSync,
    )

  it("include a path without the identifier of what is read by it", () => {
    const paths = `interface:
  paths: { statement: "/entries?account={accountId}", account: /accounts/one, deposit: "/deposits?id={id}" }
  clientPaths: { statement: /entries, withdrawal: /withdrawals/latest }
`
    expect(mistakes(paths)).toEqual([
      'tieout.yaml:2: interface.paths.account: found "/accounts/one", expected a path with {accountId} in it',
      'tieout.yaml:2: interface.paths.deposit: found "/deposits?id={id}", expected a path that starts with / and has no query',
      'tieout.yaml:3: interface.clientPaths.statement: found "/entries", expected a path with {accountId} in it',
      'tieout.yaml:3: interface.clientPaths.withdrawal: found "/withdrawals/latest", expected a path with {id} in it',
    ])
  })

  it("of a server include what it lacks of secrets, together with the others", () => {
    const source = (text: string, variables: Record<string, string>) =>
      withSecrets(Option.some(everything), text, variables)
    const wrong = { ...secrets, TIEOUT_BASE_URL: "nowhere", TIEOUT_STATUS_TOKEN: "short" }
    const lines = [
      "TIEOUT_BASE_URL: is no address; expected https://host/api/v1",
      "TIEOUT_STATUS_TOKEN: expected 128 random bits without a space, as 32 hexadecimal digits or 22 letters and digits hold",
    ]
    expect(source("", wrong)).toEqual(lines)
    const all = source("limits: { tries: five }", wrong)
    expect(all).toEqual([...lines, expect.stringContaining("tieout.yaml:1: limits.tries")])
    expect(source("status: { host: 0.0.0.0 }", secrets)).toEqual([
      expect.stringContaining("TIEOUT_STATUS_TOKEN: is not set, but status.host is 0.0.0.0"),
    ])
  })

  it("include, where a command asks the service, the credentials that it needs", () => {
    const text = "connections: { default: {}, acme: {} }\nlimits: { tries: five }\nstatus: { host: 0.0.0.0 }"
    const { TIEOUT_SCOPE: _, ...rest } = secrets
    const variables = { ...rest, TIEOUT_ACME_BASE_URL: "nowhere" }
    const found = (connection?: string) =>
      withSecrets(
        Option.some({ connection: Option.fromNullable(connection), statusToken: false }),
        text,
        variables,
      ).map((line) => line.split(": ")[0])
    const own = expect.stringContaining("tieout.yaml:2")
    const ofAcme = ["CLIENT_ID", "CLIENT_SECRET", "SCOPE", "BASE_URL"].map((name) => `TIEOUT_ACME_${name}`)
    expect(found()).toEqual(["TIEOUT_SCOPE", ...ofAcme, own])
    expect(found("default")).toEqual(["TIEOUT_SCOPE", own])
    expect(found("acme")).toEqual([...ofAcme, own])
  })

  it("include no credentials where a command needs none", () => {
    expect(withSecrets(Option.none(), "limits: { tries: five }", {})).toEqual([
      expect.stringContaining("tieout.yaml:1: limits.tries"),
    ])
  })

  it("never repeat what a secret may have strayed into", () => {
    const text =
      "connections: { default: { clientSecret: hunter2, surfaces: { secret: hunter2 } } }\nscope: hunter2"
    const lines = mistakes(text)
    expect(lines).toHaveLength(3)
    expect(lines.join("\n")).not.toContain("hunter2")
  })

  it("include a file that was asked for and is not there", () => {
    const result = Effect.runSync(
      Effect.either(Settings.pipe(Effect.provide(Settings.from({ file: "/nowhere.yaml", variables: {} })))),
    )
    expect(Either.isLeft(result) && result.left.mistakes).toEqual(["/nowhere.yaml: there is no such file"])
    const fromVariable = Effect.runSync(
      Effect.either(
        Settings.pipe(Effect.provide(Settings.from({ variables: { TIEOUT_CONFIG: "/elsewhere.yaml" } }))),
      ),
    )
    expect(Either.isLeft(fromVariable) && fromVariable.left.mistakes).toEqual([
      "/elsewhere.yaml: there is no such file",
    ])
  })

  it("include one that is a folder, whose rights are not at fault", () => {
    const result = Effect.runSync(
      Effect.either(Settings.pipe(Effect.provide(Settings.from({ file: "/", variables: {} })))),
    )
    expect(Either.isLeft(result) && result.left.message).toBe(
      "/: is a folder\nName the settings file itself; nothing has been read or written.",
    )
  })
})
