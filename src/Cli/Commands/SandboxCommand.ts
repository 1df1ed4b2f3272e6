import { Command, Options } from "@effect/cli"
import { Effect, Option } from "effect"
import { Output } from "../Output.ts"

const number = (name: string) => Options.integer(name).pipe(Options.optional)
const text = (name: string) => Options.text(name).pipe(Options.optional)

const wanted = {
  port: number("port"),
  seed: number("seed"),
  accounts: number("accounts"),
  entries: number("entries"),
  clients: number("clients"),
  accountsPerClient: number("accounts-per-client"),
  clientEntries: number("client-entries"),
  receivables: number("receivables"),
  from: text("from"),
  to: text("to"),
  faults: text("faults"),
  names: text("names"),
  webhook: text("webhook"),
  webhookAlgorithm: text("webhook-algorithm"),
  rate: number("rate"),
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

export const sandbox = Command.make(
  "sandbox",
  wanted,
  Effect.fn("Cli.sandbox")(function* (options) {
    const output = yield* Output
    const { startSandbox } = yield* Effect.promise(() => import("../../Sandbox.ts"))
    const { SandboxError } = yield* Effect.promise(() => import("../../Sandbox/Options.ts"))
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
    return yield* Effect.never
  }, Effect.scoped),
)
