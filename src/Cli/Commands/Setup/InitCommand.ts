import { constants, existsSync } from "node:fs"
import { lstat, open } from "node:fs/promises"
import { dirname } from "node:path"
import { createInterface } from "node:readline/promises"
import { Data, Effect, Either } from "effect"
import { codeOf } from "../../../Common/ErrorCode.ts"
import { makeFolder } from "../../../Common/Files/Folders.ts"
import { onFullDisk, replaceFile, writeWholeFile } from "../../../Common/Files/NewFile.ts"
import {
  type Answers,
  defaultAnswers,
  mistakeIn,
  type Surface,
  settingsText,
  surfaces,
  variablesOf,
} from "../../../Init.ts"
import { Settings } from "../../../Settings.ts"
import { command, flag, text, withDefault } from "../../Declaration.ts"
import { exitCodes } from "../../ExitCode.ts"
import { UsageError } from "../../Failure.ts"
import { Output } from "../../Output.ts"

/** The file was to be had, but for the disk. */
class Unwritten extends Data.TaggedError("Unwritten")<{ readonly message: string }> {}

const usage = (detail: string, advice: string) => new UsageError({ detail, advice })

const words = (text: string): ReadonlyArray<string> => text.split(/[\s,]+/).filter((word) => word !== "")

type Asked = (question: string, fallback: string) => Promise<string>

/** Asks on stderr: stdout is for the command's answer. */
const asking = async <A>(conversation: (ask: Asked) => Promise<A>): Promise<A> => {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  // Some versions of Node (20.19.4, 22.12) never settle a question whose lines are closed.
  const closed = new AbortController()
  lines.once("close", () => closed.abort())
  try {
    return await conversation(async (question, fallback) => {
      const answer = (await lines.question(`${question} [${fallback}]: `, { signal: closed.signal })).trim()
      return answer === "" ? fallback : answer
    })
  } finally {
    lines.close()
  }
}

/** Asks until the answer holds, and says each time what is wrong with it. */
const askUntil = async <A>(
  question: Asked,
  text: string,
  fallback: string,
  read: (answer: string) => Either.Either<A, string>,
): Promise<A> => {
  for (;;) {
    const found = read(await question(text, fallback))
    if (Either.isRight(found)) return found.right
    process.stderr.write(`  ${found.left}\n`)
  }
}

const readNames = (answer: string): Either.Either<ReadonlyArray<string>, string> => {
  const names = [...new Set(words(answer))]
  const wrong = mistakeIn({ connections: Object.fromEntries(names.map((name) => [name, {}])) })
  return wrong === undefined ? Either.right(names) : Either.left(wrong)
}

const readSurfaces = (answer: string): Either.Either<ReadonlyArray<Surface>, string> => {
  const known: ReadonlyArray<string> = surfaces
  const wanted = words(answer)
  const unknown = wanted.filter((surface) => !known.includes(surface))
  return unknown.length > 0
    ? Either.left(`There is no surface ${unknown.join(", ")}: name some of ${surfaces.join(", ")}.`)
    : Either.right(surfaces.filter((surface) => wanted.includes(surface)))
}

/** An answer that the settings check as the key `accounting.<key>`. */
const readAccounting =
  (key: "timeZone" | "baseCurrency", made: (answer: string) => string = (answer) => answer) =>
  (answer: string): Either.Either<string, string> => {
    const value = made(answer)
    const wrong = mistakeIn({ accounting: { [key]: value } })
    return wrong === undefined ? Either.right(value) : Either.left(wrong)
  }

const ask = (): Promise<Answers> =>
  asking(async (question) => {
    const names = await askUntil(
      question,
      "Names of the connections (one per set of credentials)",
      "default",
      readNames,
    )
    const connections: Array<Answers["connections"][number]> = []
    for (const name of names) {
      const text = `Surfaces that ${name} may use (${surfaces.join(", ")})`
      connections.push({ name, surfaces: await askUntil(question, text, "organization", readSurfaces) })
    }
    const timeZone = await askUntil(
      question,
      "Time zone of the accounts (IANA)",
      defaultAnswers.timeZone,
      readAccounting("timeZone"),
    )
    const baseCurrency = await askUntil(
      question,
      "Base currency",
      defaultAnswers.baseCurrency,
      readAccounting("baseCurrency", (answer) => answer.toUpperCase()),
    )
    return { connections, timeZone, baseCurrency }
  })

/** Ctrl+C and Ctrl+D end the questions and the command, as a signal would. */
const answered = Effect.promise(ask).pipe(
  Effect.catchAllDefect((defect) => (codeOf(defect) === "ABORT_ERR" ? Effect.interrupt : Effect.die(defect))),
)

/** A link in the file's place would lead to a file that nobody named. Windows has no such flag. */
const overwriting = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | (constants.O_NOFOLLOW ?? 0)

const write = (file: string, text: string, force: boolean) =>
  Effect.tryPromise({
    try: async () => {
      await makeFolder(dirname(file))
      if (!force) return await writeWholeFile(file, text)
      const there = await lstat(file).catch(() => undefined)
      if (there === undefined || there.isFile()) return await replaceFile(file, text)
      const handle = await open(file, overwriting, 0o600)
      try {
        // One that is overwritten has the rights that it had.
        await handle.chmod(0o600)
        await handle.writeFile(text)
      } finally {
        await handle.close()
      }
    },
    catch: (cause) => {
      const found = `${file} cannot be written (${codeOf(cause) ?? "unknown error"}).`
      const full = onFullDisk(cause)
      if (full !== undefined) return new Unwritten({ message: `${found}\n${full}` })
      return usage(
        codeOf(cause) === "ELOOP"
          ? `${file} is a link, and was not written: it would overwrite the file that it leads to.`
          : found,
        "Name another file with --out.",
      )
    },
  })

/** Reads the file as settings; fails with its mistakes. */
const check = (file: string) =>
  Effect.provide(Effect.asVoid(Settings), Settings.from({ file, variables: {} }))

export const init = command(
  {
    name: "init",
    summary: "Write a settings file, with every setting and its default in it.",
    about: [
      "Asks for the connections, their surfaces, the time zone and the base currency, and says which environment variables to",
      "set next. Where it is not run on a terminal, --yes takes the defaults. Credentials never stand in the file.",
    ],
    takes: {
      yes: flag("yes", "Take the defaults and ask nothing"),
      out: withDefault(text("out", "FILE", "Where it goes"), "config/tieout.yaml"),
      force: flag("force", "Overwrite a file that is there"),
    },
    examples: [
      ["tieout init", "before anything else"],
      ["tieout init --yes --out /etc/tieout/tieout.yaml", "on a server"],
    ],
  },
  Effect.fn("Cli.init")(function* ({ force, out, yes }) {
    const output = yield* Output
    if (!force && existsSync(out)) {
      return yield* usage(
        `${out} is there already.`,
        "Edit it, name another file with --out, or overwrite it with --force.",
      )
    }
    if (!yes && !(process.stdin.isTTY && output.terminal.stderr.interactive)) {
      return yield* usage(
        "Nobody can be asked here: this is not a terminal.",
        "Take the defaults with --yes.",
      )
    }
    const answers = yes ? defaultAnswers : yield* answered
    yield* write(out, settingsText(answers), force)
    const mistakes = yield* Effect.either(check(out))
    const variables = answers.connections.flatMap(({ name }) => variablesOf(name))
    yield* output.report({
      document: { file: out, ...answers, variables },
      lines: [
        `Wrote ${out}: every other setting is in it with its default, commented out.`,
        ...(Either.isLeft(mistakes) ? ["", "Correct this before you go on:", ...mistakes.left.mistakes] : []),
        "",
        "Set these variables next; secrets never stand in the file:",
        ...variables.map((name) => `  export ${name}=…`),
        "",
        "Then: tieout doctor, and tieout sync.",
      ],
      code: Either.isLeft(mistakes) ? exitCodes.usage : exitCodes.done,
    })
  }),
)
