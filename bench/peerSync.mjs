// The peer's own synchronization of all payment intents, as its documentation has it. Run in the folder that it is installed in.
import { createRequire } from "node:module"
import { join } from "node:path"

const { BENCH_DATABASE: databaseUrl, BENCH_PORT: port, BENCH_STAGE: stage } = process.env
const require = createRequire(join(process.cwd(), "package.json"))
const { runMigrations, StripeSync } = require("@supabase/stripe-sync-engine")
const Stripe = require("stripe")

if (stage === "migrate") {
  const failed = (error) => {
    throw error
  }
  await runMigrations({ databaseUrl, schema: "stripe", logger: { info: () => undefined, error: failed } })
  process.exit(0)
}
const sync = new StripeSync({
  poolConfig: { connectionString: databaseUrl, max: 10 },
  stripeSecretKey: "sk_test_bench",
  stripeWebhookSecret: "whsec_bench",
  backfillRelatedEntities: false,
})
sync.stripe = new (Stripe.default ?? Stripe)("sk_test_bench", {
  host: "127.0.0.1",
  port: Number(port),
  protocol: "http",
})
const found = await sync.syncBackfill({ object: "payment_intent" })
process.stdout.write(JSON.stringify({ synced: found.paymentIntents.synced }))
process.exit(0)
