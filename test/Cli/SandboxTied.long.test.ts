import { spawn } from "node:child_process"
import { once } from "node:events"
import { expect, it } from "vitest"

const main = new URL("../../bin/tieout.js", import.meta.url).pathname

it("a sandbox ends with the process that it is tied to, however that ends", { timeout: 60_000 }, async () => {
  const child = spawn(process.execPath, [main, "sandbox", "--entries", "10"], {
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  })
  try {
    if (child.stdout === null) throw new Error("no pipe")
    await once(child.stdout, "data")
    const ended = once(child, "exit")
    // What the system does where the parent is killed.
    child.disconnect()
    expect(await ended).toEqual([0, null])
  } finally {
    child.kill("SIGKILL")
  }
})
