import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { defaultAnswers, settingsText, variablesOf } from "../../../src/Init.ts"
import { Settings } from "../../../src/Settings.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"

const settings = (text: string): Settings => {
  const file = join(temporaryFolder(), "tieout.yaml")
  writeFileSync(file, text)
  return Effect.runSync(Effect.provide(Settings, Settings.from({ file, variables: {} })))
}

describe("a new settings file", () => {
  it("with the defaults means the same as no file", () => {
    const { connection: _a, file: _b, profile: _c, ...fromFile } = settings(settingsText(defaultAnswers))
    const { connection: _d, file: _e, profile: _f, ...fromNothing } = settings("")
    expect(fromFile).toEqual({ ...fromNothing, isFileSet: true })
  })

  it("holds the answers uncommented, and everything else unchanged", () => {
    const text = settingsText({
      connections: [
        { name: "default", surfaces: ["organization", "credit"] },
        { name: "acme-uk", surfaces: ["client"] },
      ],
      timeZone: "America/Argentina/Buenos_Aires",
      baseCurrency: "USD",
    })
    const found = settings(text)
    expect(found.connections).toEqual({
      default: { surfaces: ["organization", "credit"] },
      "acme-uk": { surfaces: ["client"] },
    })
    expect(found.accounting).toMatchObject({
      timeZone: "America/Argentina/Buenos_Aires",
      baseCurrency: "USD",
    })
    expect(text).toContain("  timeZone: America/Argentina/Buenos_Aires # IANA name;")
    expect(text).toContain("  baseCurrency: USD                # for formats")
    const example = readFileSync("config/tieout.example.yaml", "utf8")
    const added = text.split("\n").filter((line) => !example.includes(line))
    expect(added).toHaveLength(5)
  })

  it("is followed by the variables of each connection", () => {
    expect(variablesOf("acme-uk")[0]).toBe("TIEOUT_ACME_UK_BASE_URL")
    expect(variablesOf("default")).toEqual([
      "TIEOUT_BASE_URL",
      "TIEOUT_CLIENT_ID",
      "TIEOUT_CLIENT_SECRET",
      "TIEOUT_SCOPE",
    ])
  })
})
