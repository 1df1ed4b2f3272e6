/** A manifest as text, with check sums that show a changed byte: printed, read and compared. */
import { createHash } from "node:crypto"
import { Schema } from "effect"
import { Checks, Manifest } from "../Manifest.ts"
import { firstChange, type LineChecks, LineDigests } from "./LineChecks.ts"

/** The manifest with checks of its lines and the digest of all the rest as its last keys, so that a changed byte shows. */
const Sealed = Schema.Struct({
  ...Manifest.fields,
  lines: Schema.optionalWith(Checks, { exact: true }),
  digest: Schema.String,
})

/** Of the file's text, as the next batch of the book and the database keep it. */
export const sha256Of = (text: string): string => createHash("sha256").update(text).digest("hex")

const digestOf = (manifest: Manifest): string => sha256Of(JSON.stringify(manifest))

const encode = Schema.encodeSync(Manifest)

/** All lines but the last two, which read otherwise once the seal follows them. */
const checksOf = (manifest: Manifest): LineChecks => {
  const digests = new LineDigests()
  const lines = JSON.stringify(manifest, null, 2).split("\n").slice(0, -2)
  digests.add(Buffer.from(lines.map((line) => `${line}\n`).join(""), "utf8"))
  return digests.checks()
}

/** A manifest is printed for its file, for the database, for the batch after it and for the terminal. */
const printed = new WeakMap<Manifest, string>()

/** The file's text: always the same for the same manifest. */
export const print = (manifest: Manifest): string => {
  const known = printed.get(manifest)
  if (known !== undefined) return known
  const plain = encode(manifest)
  const lines = plain.formatVersion === 1 ? {} : { lines: checksOf(plain) }
  const text = `${JSON.stringify({ ...plain, ...lines, digest: digestOf(plain) }, null, 2)}\n`
  printed.set(manifest, text)
  return text
}

export const decode = Schema.decodeUnknownEither(Schema.parseJson(Sealed))

/** Whether a file's text is byte for byte what was written. */
export const isSealed = ({ digest, lines: _, ...manifest }: typeof Sealed.Type, text: string): boolean =>
  digest === digestOf(encode(manifest)) && text === print(manifest)

const seal = /"lines": \{\s+"every": (\d+),\s+"prefixes": "([0-9a-f]*)"\s+\},\s+"digest"/

/** The first changed line, as exactly as the line checks can tell; null where the checks themselves are damaged. */
export const changedLine = (bytes: Buffer): number | null => {
  const [, every = "0", prefixes = ""] = seal.exec(bytes.toString("latin1")) ?? []
  if (!(Number(every) > 0)) return null
  const stated = { every: Number(every), prefixes }
  const digests = new LineDigests(stated)
  digests.add(bytes)
  return firstChange(stated, digests.checks())[0]
}
