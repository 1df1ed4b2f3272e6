/** Stands between the connector and the sandbox for a month: dates the answers, and fails as it is told. */
import { createServer, request } from "node:http"

export interface Trouble {
  /** The service answers nothing but 503. */
  away: boolean
  /** The token endpoint answers 500. */
  tokenAway: boolean
  /** A client's account whose statement answers 500. */
  broken: string | null
  /** The one secret that is accepted. */
  secret: string
}

/** The secret with which the sandbox was started, whatever the month's secret is. */
const sandboxSecret = "sandbox-secret"

export const soakService = async (origin: string, trouble: Trouble, now: () => number) => {
  const server = createServer((asked, answer) => {
    answer.sendDate = false
    const date = new Date(now()).toUTCString()
    const refuse = (status: number, body: object = { error: "unavailable" }): unknown =>
      answer.writeHead(status, { "content-type": "application/json", date }).end(JSON.stringify(body))
    const parts: Array<Buffer> = []
    asked.on("data", (part: Buffer) => parts.push(part))
    const handle = (): unknown => {
      const url = asked.url ?? "/"
      const isToken = url.includes("/oauth/token")
      let body = Buffer.concat(parts).toString()
      if (trouble.away) return refuse(503)
      if (isToken && trouble.tokenAway) return refuse(500)
      if (trouble.broken !== null && url.includes(trouble.broken) && url.includes("statement"))
        return refuse(500)
      if (isToken) {
        const form = new URLSearchParams(body)
        if (form.get("client_secret") !== trouble.secret) return refuse(401, { error: "invalid_client" })
        form.set("client_secret", sandboxSecret)
        body = form.toString()
      }
      const headers = { ...asked.headers, "content-length": String(Buffer.byteLength(body)) }
      const passed = request(new URL(url, origin), { method: asked.method, headers }, (found) => {
        answer.writeHead(found.statusCode ?? 502, { ...found.headers, date })
        found.pipe(answer)
        found.on("error", () => answer.destroy())
      })
      passed.on("error", () => answer.destroy())
      return passed.end(body)
    }
    asked.on("end", handle)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return {
    origin: `http://127.0.0.1:${port}`,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
