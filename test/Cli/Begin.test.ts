import { afterEach, expect, it } from "vitest"
import { begin } from "../../src/Cli/Begin.ts"
import { readManual } from "../../src/Cli/Program.ts"

const emitters = [
  { emitter: process, name: "SIGHUP" },
  { emitter: process.stdout, name: "error" },
  { emitter: process.stderr, name: "error" },
].map((one) => ({ ...one, before: one.emitter.rawListeners(one.name) }))

/** The runner goes on with the listeners that it had. */
afterEach(() => {
  for (const { before, emitter, name } of emitters) {
    emitter.removeAllListeners(name)
    for (const listener of before) emitter.on(name, (...args) => Reflect.apply(listener, emitter, args))
  }
})

/** How many more listen to SIGHUP when the program has been loaded. */
const heardBy = async (command: string) => {
  const before = process.listenerCount("SIGHUP")
  let loaded = 0
  await begin([command], {}, async () => {
    loaded = process.listenerCount("SIGHUP")
    return { readManual, launch: () => undefined }
  })
  return loaded - before
}

it("SIGHUP does not end serve while the program is being loaded, as it ends every other command", async () => {
  expect(await heardBy("status")).toBe(0)
  expect(await heardBy("serve")).toBe(1)
})
