/** Whether a delivery is too old, by a timestamp that its signature covers: `interface.webhook.tolerance`. */
import { Duration } from "effect"
import type { Signatures } from "../Settings/Signatures.ts"
import { type Material, ofEnvelope } from "./SignedPayload.ts"

/** A header of the template that by its name holds the time of the delivery; the event's own time stands in the body. */
const timeHeader = /\{header:([^}]*time[^}]*)\}/i

/** Seconds or milliseconds since 1970, ISO 8601, or an HTTP date. One without its zone is in UTC, wherever this machine stands. */
const momentOf = (text: string): number => {
  if (/^\d{4}-\d\d-\d\d[T ][\d:.]+$/.test(text)) return Date.parse(`${text}Z`)
  if (!/^\d+(?:\.\d+)?$/.test(text)) return Date.parse(text)
  const number = Number(text)
  return number < 1e11 ? number * 1_000 : number
}

const textOf = (template: string, material: Material): string | undefined => {
  const [, name] = timeHeader.exec(template) ?? []
  if (name !== undefined) return material.header(name.toLowerCase())
  const found = ofEnvelope("timestamp", material)
  return found === undefined ? undefined : Buffer.from(found).toString()
}

/** What is wrong with a delivery's age; undefined if nothing is, or if no tolerance is set. */
export const latenessOf = ({
  signedPayload,
  tolerance,
}: Pick<Signatures, "signedPayload" | "tolerance">): ((material: Material) => string | undefined) => {
  if (tolerance === null) return () => undefined
  const most = Duration.toMillis(tolerance)
  return (material) => {
    const moment = momentOf(textOf(signedPayload, material) ?? "")
    if (Number.isNaN(moment)) return "it has no timestamp, which interface.webhook.tolerance asks for"
    return Date.now() - moment > most
      ? `its timestamp is older than interface.webhook.tolerance (${Duration.format(tolerance)})`
      : undefined
  }
}
