import { Effect, Option } from "effect"
import { faultNames } from "../../../Sandbox/Http/FaultPlan.ts"
import { wireNames } from "../../../Sandbox/Http/WireNames.ts"
import { defaults, SandboxError } from "../../../Sandbox/SandboxOptions.ts"
import { signingAlgorithms } from "../../../Sandbox/Webhook/SigningKeys.ts"
import { startSandbox } from "../../../Sandbox.ts"
import { command, list, oneOf, optional, text, wholeNumber } from "../../Declaration.ts"
import { Output } from "../../Output.ts"

const number = (name: string, what: string, otherwise: number | string) =>
  optional(wholeNumber(name, "N", what), String(otherwise))

const takes = {
  port: number("port", "Where it listens, on 127.0.0.1", "any free port"),
  seed: number("seed", "Which data", defaults.seed),
  accounts: number("accounts", "How many accounts of the organization", defaults.accounts),
  entries: number("entries", "How many statement entries over all of them", defaults.entries),
  clients: number(
    "clients",
    "How many represented clients, up to 10000; of ten or more, one in ten is not active",
    defaults.clients,
  ),
  accountsPerClient: number(
    "accounts-per-client",
    "How many accounts each client has",
    defaults.accountsPerClient,
  ),
  clientEntries: number(
    "client-entries",
    "How many statement entries over all clients together",
    "20 for each account",
  ),
  receivables: number(
    "receivables",
    "How many receivables, with the credit accounts that follow from them",
    defaults.receivables,
  ),
  from: optional(text("from", "DATE", "First day with movements"), defaults.from),
  to: optional(text("to", "DATE", "Last day with movements"), defaults.to),
  faults: optional(
    list(
      "faults",
      "F",
      "What goes wrong: none, wild (all that passes), or names with a rate if need be, as in unavailable:2,limit:20",
      ["none", "wild", ...faultNames],
    ),
    defaults.faults,
  ),
  names: optional(
    text(
      "names",
      "WHICH",
      "plain, or odd: other parameters, fields and paths where the interface does not show them",
      wireNames,
    ),
    defaults.names,
  ),
  webhook: optional(
    text("webhook", "URL", "Where signed events go, such as http://127.0.0.1:8787/webhooks/default"),
    "nowhere",
  ),
  webhookAlgorithm: optional(
    text("webhook-algorithm", "A", `How they are signed: ${oneOf(signingAlgorithms)}`, signingAlgorithms),
    defaults.webhookAlgorithm,
  ),
  rate: number("rate", "Movements that happen by themselves every second, up to 1000", defaults.rate),
  latency: optional(
    wholeNumber("latency", "MS", "Milliseconds that every answer takes"),
    String(defaults.latency),
  ),
}

const credentials = { clientId: "sandbox-client", clientSecret: "sandbox-secret", scope: "sandbox" }

/** What another shell needs to reach the sandbox. */
const variablesOf = (url: string): Readonly<Record<string, string>> => ({
  TIEOUT_BASE_URL: url,
  TIEOUT_CLIENT_ID: credentials.clientId,
  TIEOUT_CLIENT_SECRET: credentials.clientSecret,
  TIEOUT_SCOPE: credentials.scope,
})

const linesOf = (url: string, origin: string): ReadonlyArray<string> => [
  `The sandbox listens on ${origin} until it is interrupted (Ctrl+C). In another shell:`,
  "",
  ...Object.entries(variablesOf(url)).map(([name, value]) => `export ${name}=${value}`),
]

/** Until the process that began it, and is tied to it, is gone; of a person's own it never is. */
const parentGone = Effect.async<void>((resume) => {
  if (process.connected) process.once("disconnect", () => resume(Effect.void))
})

export const sandbox = command(
  {
    name: "sandbox",
    summary: "Serve an imitation of the partner's service on this machine.",
    about: [
      "The same seed gives the same data. It prints the variables that point Tieout to it, and runs until interrupted.",
      "Faults: limit (requests a second), unavailable, reset, truncate, slow, expire-token, expire-cursor, repeat, change and",
      "redirect (in percent of requests). POST /control/faults?set=… changes them while it runs, POST /control/advance?movements=N",
      "lets more happen (&client=K to one client, &late=DAYS with times so long ago), POST /control/receivables?index=K&to=… moves a receivable on.",
      "With --webhook it sends signed events for what happens. POST /control/webhooks?set=duplicates,reorder,drop,tamper (each",
      "with :PERCENT if need be) sends them badly, POST /control/webhooks/rotate changes the key, POST /control/rate?movements=N",
      "lets N movements a second happen by themselves, POST /control/destinations?index=K&to=STATUS moves an address book entry on.",
      "GET /control/requests says how many requests came in each tenth of a second of the hour after POST /control/reset-counters.",
    ],
    takes,
    examples: [
      ["tieout sandbox --port 8700 --entries 10000", "in one shell, tieout sync in another"],
      ["tieout sandbox --clients 200 --receivables 50 --faults wild", "every surface, in any weather"],
    ],
    exits: { done: "done: it was interrupted" },
  },
  Effect.fn("Cli.sandbox")(function* (options) {
    const output = yield* Output
    const server = yield* Effect.acquireRelease(
      Effect.tryPromise({
        try: () =>
          startSandbox({
            port: Option.getOrUndefined(options.port),
            seed: Option.getOrUndefined(options.seed),
            accounts: Option.getOrUndefined(options.accounts),
            entries: Option.getOrUndefined(options.entries),
            clients: Option.getOrUndefined(options.clients),
            accountsPerClient: Option.getOrUndefined(options.accountsPerClient),
            clientEntries: Option.getOrUndefined(options.clientEntries),
            receivables: Option.getOrUndefined(options.receivables),
            from: Option.getOrUndefined(options.from),
            to: Option.getOrUndefined(options.to),
            faults: Option.getOrUndefined(options.faults),
            names: Option.getOrUndefined(options.names),
            webhook: Option.getOrUndefined(options.webhook),
            webhookAlgorithm: Option.getOrUndefined(options.webhookAlgorithm),
            rate: Option.getOrUndefined(options.rate),
            latency: Option.getOrUndefined(options.latency),
            clientId: credentials.clientId,
            clientSecret: credentials.clientSecret,
          }),
        catch: (cause) =>
          cause instanceof SandboxError
            ? cause
            : new SandboxError({ reason: "Listen", message: String(cause), problems: [] }),
      }),
      (running) => Effect.promise(() => running.close()),
    )
    yield* output.report({
      document: {
        url: server.url,
        origin: server.origin,
        port: server.port,
        variables: variablesOf(server.url),
      },
      lines: linesOf(server.url, server.origin),
    })
    yield* output.interruptIsTheEnd
    return yield* parentGone
  }, Effect.scoped),
)
