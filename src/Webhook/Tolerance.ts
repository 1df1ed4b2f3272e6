/** Whether a delivery is too old, by a timestamp that its signature covers: `interface.webhook.tolerance`. */
import { Duration } from "effect"
import type { Signatures } from "../Settings/Signatures.ts"
import { type Material, ofEnvelope } from "./SignedPayload.ts"

/** A header of the template that by its name holds the time of the delivery; the event's own time stands in the body. */
const timeHeader = /\{header:([^}]*time[^}]*)\}/i

/** In milliseconds: from seconds, milliseconds, microseconds or nanoseconds since 1970, told apart by their size. */
const sinceEpoch = (number: number): number => {
  if (number < 1e11) return number * 1e3
  if (number < 1e14) return number
  return number < 1e17 ? number / 1e3 : number / 1e6
}

/** A number since 1970, ISO 8601, or an HTTP date. One without its zone is in UTC, wherever this machine stands. */
const momentOf = (text: string): number => {
  if (/^\d{4}-\d\d-\d\d[T ][\d:.]+$/.test(text)) return Date.parse(`${text}Z`)
  return /^\d+(?:\.\d+)?$/.test(text) ? sinceEpoch(Number(text)) : Date.parse(text)
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
