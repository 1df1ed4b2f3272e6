/** A service of the peer's kind, for `bench/peer.ts`: lists payment intents, a hundred a page, as its documentation shows them. */
import { createServer } from "node:http"

const [objects = 0] = process.argv.slice(2).map(Number)

const intent = (index: number) => ({
  id: `pi_${String(index).padStart(24, "0")}`,
  object: "payment_intent",
  amount: 1_000 + (index % 90_000),
  amount_capturable: 0,
  amount_received: 1_000 + (index % 90_000),
  application: null,
  application_fee_amount: null,
  automatic_payment_methods: { enabled: true },
  canceled_at: null,
  cancellation_reason: null,
  capture_method: "automatic",
  charges: { object: "list", data: [], has_more: false, total_count: 0 },
  client_secret: `pi_${index}_secret`,
  confirmation_method: "automatic",
  created: 1_700_000_000 + index,
  currency: "usd",
  customer: `cus_${index % 1_000}`,
  description: `Invoice ${index} of a customer`,
  invoice: null,
  last_payment_error: null,
  livemode: false,
  metadata: { order: String(index) },
  next_action: null,
  on_behalf_of: null,
  payment_method: `pm_${index}`,
  payment_method_options: { card: { installments: null, network: null } },
  payment_method_types: ["card"],
  processing: null,
  receipt_email: "payer@example.com",
  review: null,
  setup_future_usage: null,
  shipping: null,
  statement_descriptor: null,
  statement_descriptor_suffix: null,
  status: "succeeded",
  transfer_data: null,
  transfer_group: null,
})

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://service")
  const after = Number(searchParams.get("starting_after")?.slice(3) ?? -1)
  const first = after + 1
  const data = Array.from({ length: Math.max(0, Math.min(100, objects - first)) }, (_, at) =>
    intent(first + at),
  )
  const body = { object: "list", url: pathname, has_more: first + data.length < objects, data }
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body))
})
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  process.stdout.write(JSON.stringify({ port }))
})
process.once("SIGTERM", () => process.exit(0))
