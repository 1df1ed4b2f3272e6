/** Everything that the settings file may hold, with its defaults. */
import { Schema } from "effect"
import { section, withDefault } from "../Common/Field.ts"
import { FormatSettings } from "../Format/FormatSettings.ts"
import { Accounting } from "./Accounting.ts"
import { Chart } from "./Chart.ts"
import { Connections } from "./Connections.ts"
import { Interface } from "./Interface.ts"
import { Limits } from "./Limits.ts"
import { Reconcile } from "./Reconcile.ts"
import { Retention } from "./Retention.ts"
import { Rules } from "./Rules.ts"
import { Alerts, Nightly, Status, Webhook } from "./Servers.ts"

const Export = Schema.Struct({
  /** Keeps a batch's files in the database too, compressed, so that `tieout batches download` needs no folder. */
  keepFiles: withDefault(Schema.Boolean, true),
})

const Close = Schema.Struct({
  /** An approval of a close is by another person: another name, and logged in as another user. */
  twoPersons: withDefault(Schema.Boolean, false),
})

const DatabaseSection = Schema.Struct({
  /** A server is expected: without `DATABASE_URL` no command starts the embedded one, which would be empty. */
  required: withDefault(Schema.Boolean, false),
})

export const Content = Schema.Struct({
  connections: withDefault(Connections, { default: { surfaces: ["organization"] } }),
  accounting: section(Accounting),
  interface: section(Interface),
  chart: section(Chart),
  rules: withDefault(Rules, []),
  reconcile: section(Reconcile),
  formats: section(FormatSettings),
  close: section(Close),
  export: section(Export),
  database: section(DatabaseSection),
  limits: section(Limits),
  retention: section(Retention),
  webhook: section(Webhook),
  status: section(Status),
  schedule: section(Nightly),
  alerts: section(Alerts),
})
export type Content = typeof Content.Type
