import { expect, it } from "@effect/vitest"
import { Option } from "effect"
import { hintOf } from "../../../src/Sync/Events/EventHint.ts"
import { readEnvelope } from "../../../src/Webhook/Envelope.ts"
import { id } from "../Partnership.ts"

it("an event whose body begins with a byte order mark names what it names", () => {
  const event = { id: id(1), type: "deposit.completed", data: { depositId: id(2), clientId: id(3) } }
  const body = Buffer.from(`\ufeff${JSON.stringify(event)}`)
  expect(readEnvelope(body)).toMatchObject({ right: { id: id(1) } })
  const { clientId, resource, unknown } = hintOf("deposit.completed", body)
  expect({ clientId, resource: Option.map(resource, (key) => key.id), unknown }).toEqual({
    clientId: Option.some(id(3)),
    resource: Option.some(id(2)),
    unknown: Option.none(),
  })
})
