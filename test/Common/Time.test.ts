import { expect, test } from "vitest"
import { byInstant } from "../../src/Common/Time.ts"

const inOrder = [
  "2026-10-07T03:29:59.999999Z",
  "2026-10-07T03:30:00Z",
  "2026-10-07T03:30:00.000001Z",
  "2026-10-07T03:30:00.500Z",
  "2026-10-07T03:30:00.500001Z",
  "2026-10-07T03:30:01Z",
]

test("instants of one second are in their order, whatever decimals they are written with", () => {
  expect(inOrder.toReversed().sort(byInstant)).toEqual(inOrder)
})
