/** How a connection reaches the service: over HTTP, unless the program or a test provides another way. */
import { Context, Effect, Layer } from "effect"
import type { Partner, PartnerConnection } from "../Partner.ts"
import * as PartnerHttp from "./Http.ts"
import type { PartnerError } from "./PartnerError.ts"

export class Connector extends Context.Reference<Connector>()("tieout/Partner/Connector", {
  defaultValue:
    () =>
    (connection: PartnerHttp.Connection): Layer.Layer<PartnerConnection | Partner, PartnerError> =>
      PartnerHttp.layer(connection),
}) {}

/** The partner port of a connection, and that of its organization's book. */
export const connected = (connection: PartnerHttp.Connection) =>
  Layer.unwrapEffect(Effect.map(Connector, (connect) => connect(connection)))
