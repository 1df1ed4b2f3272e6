/** The private server on a database of the test's own, and requests to it with any header. */
import { type IncomingHttpHeaders, request } from "node:http"
import { Effect, Layer, Logger, LogLevel, Option } from "effect"
import { Overview } from "../../src/Serve/Overview.ts"
import { startStatusServer } from "../../src/Serve/StatusServer.ts"
import { Settings } from "../../src/Settings.ts"

export interface Answered {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface Asked {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string
}

/** The path goes out as it is: nothing of it is resolved or encoded. */
export const ask = (port: number, path: string, { body, headers = {}, method = "GET" }: Asked = {}) =>
  Effect.promise(
    () =>
      new Promise<Answered>((resolve, reject) => {
        const sent = request({ host: "127.0.0.1", port, path, method, headers, agent: false }, (answer) => {
          let text = ""
          answer.setEncoding("utf8")
          answer.on("data", (chunk: string) => {
            text += chunk
          })
          answer.on("end", () =>
            resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: text }),
          )
        })
        sent.on("error", reject)
        sent.end(body)
      }),
  )

/** Listens until the scope closes, on any port; the variables are the environment. */
export const serving = (variables: Record<string, string> = {}, port = 0) =>
  Effect.flatMap(
    Layer.build(Layer.provideMerge(Overview.Default, Settings.from({ variables }))),
    (services) =>
      startStatusServer(Option.some(port), undefined).pipe(
        Logger.withMinimumLogLevel(LogLevel.None),
        Effect.provide(services),
      ),
  )
