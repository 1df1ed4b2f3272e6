import { createHash } from "node:crypto"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "esbuild"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { checkPlainTextFile, type PlainTextFile } from "../../src/Verify/PlainText/PlainTextFile.ts"
import { startThreads } from "../../src/Verify/PlainText/PlainTextThreads.ts"

let folder = ""
let program = ""

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tieout-threads-"))
  program = join(folder, "plainText.cjs")
  await build({
    entryPoints: [fileURLToPath(new URL("../../src/Verify/PlainText/PlainTextThread.ts", import.meta.url))],
    outfile: program,
    bundle: true,
    platform: "node",
    format: "cjs",
  })
})

afterAll(() => rm(folder, { recursive: true, force: true }))

const account = { role: "cash", currency: "EUR", scale: 2, partnerAccountId: null }
const transactions = 50_000

/** A journal of some 5 MB: long enough for a thread. */
const journal = (amount: string): string =>
  Array.from(
    { length: transactions },
    (_, at) =>
      `2026-01-01 * (ORG-2026-01-${String(at + 1).padStart(6, "0")}) Deposit\n    Assets:Cash  ${amount} EUR\n    Income:Fees  -1.00 EUR\n\n`,
  ).join("")

const written = async (name: string, text: string): Promise<PlainTextFile> => {
  await writeFile(join(folder, name), text)
  const file = {
    name,
    format: "ledger",
    rows: transactions,
    bytes: Buffer.byteLength(text),
    sha256: createHash("sha256").update(text).digest("hex"),
  }
  const named = (called: string, closing: bigint) => ({
    called,
    closing,
    account: { ...account, code: called, name: called },
  })
  return {
    folder,
    file,
    plain: {
      transaction: /^\d{4}-\d{2}-\d{2} \* /,
      posting: /^ {4}([^\s;].*?) {2}(-?\d+(?:\.\d+)?) (\S+)$/,
      assertion: undefined,
      accounts: [named("Assets:Cash", 5_000_000n), named("Income:Fees", -5_000_000n)],
    },
  }
}

/** As a thread sends it. */
const sent = async (file: PlainTextFile) => structuredClone({ ...(await checkPlainTextFile(file)) })

describe("threads for plain-text journals", () => {
  it("say of each file what the check says on the main thread", async () => {
    const whole = await written("whole.ledger", journal("1.00"))
    const uneven = await written("uneven.ledger", journal("1.01"))
    const named = await written("changed.ledger", journal("1.00"))
    const changed = { ...named, file: { ...named.file, sha256: whole.file.sha256.replace(/^./, "x") } }
    const missing = { ...whole, file: { ...whole.file, name: "missing.ledger" } }
    const threads = startThreads([whole, uneven, changed], { program, count: 1 })
    try {
      expect(await threads.verdictOf("whole.ledger")).toEqual({
        isRead: true,
        problems: { found: [], count: 0, notes: [] },
        content: { found: [], count: 0, notes: [] },
      })
      const found = await threads.verdictOf("uneven.ledger")
      expect(found).toEqual(await sent(uneven))
      expect(found?.content.count).toBe(transactions + 1)
      expect(await threads.verdictOf("changed.ledger")).toEqual(await sent(changed))
      expect(threads.verdictOf("journal.csv")).toBeUndefined()
    } finally {
      await threads.end()
    }
    const failing = startThreads([missing, whole], { program, count: 1 })
    expect(await failing.verdictOf("missing.ledger")).toBeUndefined()
    expect(await failing.verdictOf("whole.ledger")).toMatchObject({ isRead: true })
    await failing.end()
  })

  it("leave to the main thread what they cannot do", async () => {
    const broken = join(folder, "broken.cjs")
    await writeFile(broken, "throw new Error()")
    const whole = await written("left.ledger", journal("1.00"))
    const threads = startThreads([whole, { ...whole, file: { ...whole.file, name: "next" } }], {
      program: broken,
      count: 1,
    })
    expect(await threads.verdictOf("left.ledger")).toBeUndefined()
    expect(await threads.verdictOf("next")).toBeUndefined()
    await threads.end()
    expect(startThreads([whole], { program, count: 0 }).verdictOf("left.ledger")).toBeUndefined()
  })

  it("are not begun for little, nor without their program", async () => {
    const short = await written("short.ledger", "")
    expect(startThreads([short], { program, count: 1 }).verdictOf("short.ledger")).toBeUndefined()
    const whole = await written("long.ledger", journal("1.00"))
    expect(
      startThreads([whole], { program: join(folder, "nowhere.cjs"), count: 1 }).verdictOf("long.ledger"),
    ).toBeUndefined()
  })
})
