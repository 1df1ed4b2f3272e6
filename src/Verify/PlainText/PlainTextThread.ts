/** A thread that checks one plain-text journal after another: the entry of the bundle's `plainText.cjs`. */
import { parentPort } from "node:worker_threads"
import { checkPlainTextFile, type PlainTextFile } from "./PlainTextFile.ts"

parentPort?.on("message", async (sent: PlainTextFile) => {
  // The main thread reports a file that cannot be read.
  parentPort?.postMessage(await checkPlainTextFile(sent).catch(() => undefined))
})
