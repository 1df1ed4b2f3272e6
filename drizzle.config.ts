import { defineConfig } from "drizzle-kit"

export default defineConfig({
  dialect: "postgresql",
  schema: "./src/Database/Tables/*.ts",
  out: "./drizzle",
  schemaFilter: ["mirror", "sync", "ledger", "reconcile", "export", "webhook", "valuation"],
})
