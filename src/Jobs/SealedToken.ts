/**
 * A token as the database holds it: encrypted by AES-256-GCM under a key that is not in the database, and bound to the
 * connection and the credentials that it was issued to, so that a row copied to another connection cannot be opened.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto"
import { Option, Redacted } from "effect"

const algorithm = "aes-256-gcm"
/** Of the layout: version, nonce, tag, ciphertext. */
const version = 1
const nonceBytes = 12
const tagBytes = 16

/** What a token is issued to. */
export interface IssuedTo {
  readonly name: string
  readonly baseUrl: string
  readonly clientId: string
  readonly scope: string
}

const boundTo = ({ baseUrl, clientId, name, scope }: IssuedTo): Buffer =>
  Buffer.from(JSON.stringify([name, baseUrl, clientId, scope]))

export type Key = Redacted.Redacted<Buffer>

export const seal = (key: Key, to: IssuedTo, token: Redacted.Redacted): Buffer => {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv(algorithm, Redacted.value(key), nonce, { authTagLength: tagBytes })
  cipher.setAAD(boundTo(to))
  const text = Buffer.concat([cipher.update(Redacted.value(token), "utf8"), cipher.final()])
  return Buffer.concat([Buffer.of(version), nonce, cipher.getAuthTag(), text])
}

/** None if the key, the connection or its credentials differ, or a bit has changed. */
export const open = (key: Key, to: IssuedTo, sealed: Uint8Array): Option.Option<Redacted.Redacted> => {
  const all = Buffer.from(sealed)
  const text = 1 + nonceBytes + tagBytes
  if (all[0] !== version || all.length <= text) return Option.none()
  try {
    const decipher = createDecipheriv(algorithm, Redacted.value(key), all.subarray(1, 1 + nonceBytes), {
      authTagLength: tagBytes,
    })
    decipher.setAAD(boundTo(to))
    decipher.setAuthTag(all.subarray(1 + nonceBytes, text))
    return Option.some(
      Redacted.make(Buffer.concat([decipher.update(all.subarray(text)), decipher.final()]).toString("utf8")),
    )
  } catch {
    return Option.none()
  }
}
