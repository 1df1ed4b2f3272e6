/** The last gate before the log and error texts: it keeps every secret of the environment out of them. */
import { Context } from "effect"
import { formsOf, type SecretForm, withoutSecrets } from "../Common/SecretForms.ts"
import type { Variables } from "./Environment.ts"

/** Characters; shorter ones are parts of ordinary words, and no secret. */
const shortest = 8

const wholly = /^TIEOUT_(?:STATUS_TOKEN|TOKEN_KEY|ALERTS_WEBHOOK|(?:[A-Z0-9_]+_)?CLIENT_SECRET)$/
const addresses = /^(?:DATABASE_URL|HTTPS_PROXY|https_proxy)$/

/** The text as it was given, and with its percent escapes decoded. */
const decoded = (text: string): ReadonlyArray<string> => {
  try {
    return [text, decodeURIComponent(text)]
  } catch {
    return [text]
  }
}

const passwordOf = (address: string): string => /^[a-z0-9+.-]+:\/\/[^/]*?:([^/]*)@/i.exec(address)?.[1] ?? ""

const secretsIn = (name: string, value: string): ReadonlyArray<string> => {
  if (wholly.test(name)) return [value]
  if (addresses.test(name)) return decoded(passwordOf(value))
  return name === "OTEL_EXPORTER_OTLP_HEADERS"
    ? value.split(",").flatMap((pair) => decoded(pair.slice(pair.indexOf("=") + 1).trim()))
    : []
}

/** The secrets that this process has been given so far. */
export class Secrets {
  private readonly known = new Map<string, ReadonlyArray<SecretForm>>()

  /** Also called for the secrets that a reload brings; earlier ones stay hidden. */
  learn(variables: Variables): void {
    for (const [name, value = ""] of Object.entries(variables)) {
      for (const secret of secretsIn(name, value)) {
        if (secret.length >= shortest && !this.known.has(secret)) this.known.set(secret, formsOf(secret))
      }
    }
  }

  readonly hide = (text: string): string => withoutSecrets(text, [...this.known.values()].flat())
}

export class KnownSecrets extends Context.Reference<KnownSecrets>()("tieout/KnownSecrets", {
  defaultValue: () => new Secrets(),
}) {}
