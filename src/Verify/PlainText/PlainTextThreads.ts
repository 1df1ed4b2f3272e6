/** Plain-text journals are checked on threads of their own, while the main one reads the other files. */
import { existsSync } from "node:fs"
import { availableParallelism } from "node:os"
import { fileURLToPath } from "node:url"
import { Worker } from "node:worker_threads"
import type { Manifest } from "../../Export/Batch/Manifest.ts"
import { formatOf } from "../../Format/Formats.ts"
import type { ExpectedAccount } from "../AccountsProof.ts"
import type { PlainTextFile, PlainTextVerdict } from "./PlainTextFile.ts"
import { plainTextOf } from "./PlainTextProof.ts"

/** Beside the bundled program; there is none where the sources are run. */
const bundled = fileURLToPath(new URL("./plainText.cjs", import.meta.url))

/** Bytes of journals from which on a thread saves more than its start takes. */
const worthwhile = 4_000_000

export interface Threads {
  /** The result for a journal that was handed over; undefined if its thread could not check it. Never rejects. */
  readonly verdictOf: (name: string) => Promise<PlainTextVerdict | undefined> | undefined
  readonly end: () => Promise<unknown>
}

/** The plain-text journals of a batch, with what each is read with. */
export const plainTextsOf = (
  folder: string,
  { files }: Manifest,
  accounts: ReadonlyArray<ExpectedAccount>,
): ReadonlyArray<PlainTextFile> =>
  files.flatMap((file) => {
    const format = formatOf(file.format)
    return format?.kind === "plain" && format.reading.kind === "transactions"
      ? [{ folder, file, plain: plainTextOf(format.reading.syntax, accounts) }]
      : []
  })

type Answer = PlainTextVerdict | undefined

/** A thread that checks one journal after another. If it dies, the main thread checks in its place. */
const startThread = (program: string) => {
  const thread = new Worker(program).on("error", () => undefined)
  const ended = new Promise<Answer>((resolve) => thread.once("exit", () => resolve(undefined)))
  let free: Promise<Answer> = Promise.resolve(undefined)
  const ask = (file: PlainTextFile): Promise<Answer> => {
    const answer = new Promise<Answer>((resolve) => thread.once("message", resolve))
    thread.postMessage(file)
    return Promise.race([answer, ended])
  }
  return {
    check: (file: PlainTextFile): Promise<Answer> => {
      free = free.then(() => ask(file))
      return free
    },
    end: () => thread.terminate(),
  }
}

/** Leaves one processor to the main thread. */
const threadsHere = { program: bundled, count: availableParallelism() - 1 }

/** Hands the journals to threads; to none where they are short. */
export const startThreads = (
  files: ReadonlyArray<PlainTextFile>,
  { count, program } = threadsHere,
): Threads => {
  const bytes = files.reduce((sum, { file }) => sum + file.bytes, 0)
  if (bytes < worthwhile || !existsSync(program)) {
    return { verdictOf: () => undefined, end: () => Promise.resolve() }
  }
  const threads = Array.from({ length: Math.min(files.length, count) }, () => startThread(program))
  const verdicts = new Map(
    files.map((file, at) => [file.file.name, threads[at % threads.length]?.check(file)] as const),
  )
  return {
    verdictOf: (name) => verdicts.get(name),
    end: () => Promise.all(threads.map(({ end }) => end())),
  }
}
