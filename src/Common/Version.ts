/** The product's version, from its package.json (two folders up, both from `src` and from `dist`). */
import { readFileSync } from "node:fs"
import { Schema } from "effect"

const Package = Schema.parseJson(Schema.Struct({ version: Schema.String }))

export const productVersion = (): string =>
  Schema.decodeUnknownSync(Package)(readFileSync(new URL("../../package.json", import.meta.url), "utf8"))
    .version
