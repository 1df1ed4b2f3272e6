/** Folders that say that they are exports, and would have whoever checks them take more than there is. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { run } from "../../src/Verify.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"

it.effect.each([
  ["more values than a manifest", `[0${",0".repeat(4_000_001)}]`, "it holds more than 4000000 values"],
  ["lists in lists", `${"[".repeat(70_000)}${"]".repeat(70_000)}`, "it is nested deeper than 256 levels"],
] as const)("a manifest of %s is refused unparsed", ([, zeros, why]) =>
  Effect.gen(function* () {
    const folder = temporaryFolder()
    writeFileSync(join(folder, "manifest.json"), `{"kind":"report","more":${zeros}}`)
    expect(yield* Effect.flip(run(folder))).toMatchObject({
      reason: "Unreadable",
      message: `${join(folder, "manifest.json")} is not read: ${why}.`,
    })
  }),
)
