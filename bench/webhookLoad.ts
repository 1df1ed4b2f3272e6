/**
 * Sends signed deliveries over keep-alive connections as fast as they are acknowledged, in a process of its own: the load must
 * not share a thread with what it measures. Prints one JSON document.
 */
import { createPrivateKey, randomUUID, sign } from "node:crypto"
import { Agent, request } from "node:http"

const need = (name: string): string => {
  const value = process.env[name]
  if (value === undefined) throw new Error(`${name} is not set`)
  return value
}

const url = new URL(need("BENCH_URL"))
const key = createPrivateKey(need("BENCH_KEY"))
const keyId = need("BENCH_KEY_ID")
const lanes = Number(need("BENCH_LANES"))
const total = Number(need("BENCH_COUNT"))

// Signed beforehand: the load must cost as little as it can while it is measured.
const deliveries = Array.from({ length: total }, (_, index) => {
  const id = randomUUID()
  const data = { depositId: randomUUID(), status: "COMPLETED" }
  const body = Buffer.from(
    JSON.stringify({
      id,
      timestamp: new Date(1.76e12 + index).toISOString(),
      type: "deposit.completed",
      data,
    }),
  )
  return { body, signature: sign("sha256", body, key).toString("base64") }
})

const agent = new Agent({ keepAlive: true, maxSockets: lanes })
const times: Array<number> = []
let refused = 0

const send = ({ body, signature }: (typeof deliveries)[number]): Promise<void> =>
  new Promise((resolve, reject) => {
    const started = performance.now()
    const headers = {
      "content-type": "application/json",
      "content-length": body.length,
      "x-signature": signature,
      "x-key-id": keyId,
      "x-algorithm": "ES256",
    }
    const sent = request(url, { method: "POST", headers, agent }, (response) => {
      response.resume()
      response.once("end", () => {
        times.push(performance.now() - started)
        if (response.statusCode !== 200) refused++
        resolve()
      })
    })
    sent.once("error", reject)
    sent.end(body)
  })

let next = 0
const lane = async (): Promise<void> => {
  for (;;) {
    const delivery = deliveries[next++]
    if (delivery === undefined) return
    await send(delivery)
  }
}

const started = performance.now()
await Promise.all(Array.from({ length: lanes }, lane))
const seconds = (performance.now() - started) / 1_000
times.sort((a, b) => a - b)
const at = (share: number) => times[Math.floor((times.length - 1) * share)] ?? Number.NaN
process.stdout.write(JSON.stringify({ perSecond: total / seconds, p50: at(0.5), p99: at(0.99), refused }))
process.exit(0)
