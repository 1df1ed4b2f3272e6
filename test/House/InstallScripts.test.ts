/** What a package may run while it is installed: nothing that this project did not decide. */
import { readFileSync } from "node:fs"
import { Schema } from "effect"
import { describe, expect, it } from "vitest"

const Lockfile = Schema.parseJson(
  Schema.Struct({
    packages: Schema.Record({
      key: Schema.String,
      value: Schema.Struct({ hasInstallScript: Schema.optional(Schema.Boolean) }),
    }),
  }),
)
const Manifest = Schema.parseJson(
  Schema.Struct({ allowScripts: Schema.Record({ key: Schema.String, value: Schema.Boolean }) }),
)

describe("install scripts", () => {
  const { packages } = Schema.decodeUnknownSync(Lockfile)(readFileSync("package-lock.json", "utf8"))
  const { allowScripts } = Schema.decodeUnknownSync(Manifest)(readFileSync("package.json", "utf8"))
  const withScripts = new Set(
    Object.entries(packages)
      .filter(([, { hasInstallScript }]) => hasInstallScript === true)
      .map(([place]) => place.slice(place.lastIndexOf("node_modules/") + "node_modules/".length)),
  )

  it("are decided package by package, and none runs", () => {
    expect(allowScripts).toEqual(Object.fromEntries([...withScripts].map((name) => [name, false])))
  })
})
