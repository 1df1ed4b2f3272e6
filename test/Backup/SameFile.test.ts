/** Backups of two databases to one file at once: no lock of either database keeps the other's away. */
import { readdirSync, renameSync } from "node:fs"
import { dirname, join } from "node:path"
import { expect, it } from "vitest"
import { openBackup, partsOf } from "../../src/Backup/BackupFile.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"

const header = {
  tieout: "backup" as const,
  format: 1 as const,
  version: "1",
  createdAt: "2026-11-01T00:00:00.000Z",
  migrations: [],
  sequences: [],
}

const rowsIn = async (path: string) => {
  const rows: Array<string> = []
  for await (const part of partsOf(path)) if (part.kind === "rows") rows.push(...part.rows)
  return rows
}

/** A backup of one row, but for its end. */
const begun = async (file: string, row: string) => {
  const writer = await openBackup(file)
  await writer.header(header)
  await writer.table("a", [])
  await writer.rows([row])
  await writer.tableEnd()
  return writer
}

it("fails the one whose file the other took, and leaves the other's alone", async () => {
  const file = join(temporaryFolder(), "tieout.gz")
  const first = await begun(file, '["first"]')
  const second = await begun(file, '["second"]')
  await expect(first.finish()).rejects.toMatchObject({
    reason: "Busy",
    message: `Another backup is writing ${file}: wait for it, or name another file.`,
  })
  await first.abandon()
  await second.finish()
  expect(await rowsIn(file)).toEqual(['["second"]'])
  expect(readdirSync(dirname(file))).toEqual(["tieout.gz"])
})

it("replaces no file that another finished meanwhile", async () => {
  const file = join(temporaryFolder(), "tieout.gz")
  const first = await begun(file, '["first"]')
  const second = await begun(file, '["second"]')
  await second.finish()
  await expect(first.finish()).rejects.toMatchObject({ reason: "Busy" })
  await first.abandon()
  expect(await rowsIn(file)).toEqual(['["second"]'])

  const other = join(dirname(file), "other.gz")
  const late = await begun(other, '["late"]')
  renameSync(file, other)
  await expect(late.finish()).rejects.toMatchObject({
    reason: "Usage",
    message: `${other} is there already: name another file, or move it away.`,
  })
  await late.abandon()
  expect(await rowsIn(other)).toEqual(['["second"]'])
  expect(readdirSync(dirname(file))).toEqual(["other.gz"])
})
