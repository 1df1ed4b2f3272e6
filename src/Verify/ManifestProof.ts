/**
 * What a manifest says of its batch in several places must be the same in all of them: the dates and the name of the scope, the first and
 * the last number, the formats and their files. Without this, a file that is taken away together with its record would take all
 * that it proves with it, and a scope that is made to look like a part would excuse gaps.
 */
import type { Problems } from "../Common/Problems.ts"
import { isDate, lastDayOf } from "../Common/Time.ts"
import { type Manifest, manifestFile } from "../Export/Batch/Manifest.ts"
import { accompanyingFiles } from "../Format/AccompanyingFiles.ts"
import { bankStatementsOf, formatOf, isForeignTo, plainsOf, tablesOf } from "../Format/Formats.ts"
import { timeName } from "./FolderPlace.ts"

type Scope = Manifest["scope"]

/** The scope's name without its time, by its dates; undefined where its kind has no such dates. */
const nameOf = ({ from, kind, since, to }: Scope): string | undefined => {
  if ((kind === "since-last") !== (since !== null)) return undefined
  if (kind === "all" || kind === "since-last") {
    if (from !== null || to !== null) return undefined
    return kind === "all" ? "all" : `since-${since}`
  }
  if (from === null || to === null || !isDate(from) || !isDate(to) || from > to) return undefined
  if (kind === "range") return `${from}_${to}`
  const month = from.slice(0, 7)
  return from === `${month}-01` && to === lastDayOf(month) ? month : undefined
}

const checkScope = ({ lineage, scope }: Manifest, wrong: (message: string) => void): void => {
  const { asOf = null, covered, kind, text } = scope
  const name = nameOf(scope)
  if (name === undefined || text !== `${name}${asOf === null ? "" : timeName(asOf)}`) {
    wrong(`the scope ${text} has not the dates of such a scope`)
  }
  if (covered.length > 0 && kind !== "since-last" && lineage?.delta !== true) {
    wrong(`the scope ${text} leaves entries to other batches, but the batch follows none`)
  }
}

/** Closed months of the scope alone. */
const checkCloses = ({ lineage, scope: { from, text, to } }: Manifest, wrong: (message: string) => void) => {
  for (const { period } of lineage?.closes ?? []) {
    if ((from !== null && period < from.slice(0, 7)) || (to !== null && period > to.slice(0, 7))) {
      wrong(`names a close of ${period}, which is outside the scope ${text}`)
    }
  }
}

const checkNumbers = ({ firstNumber, lastNumber, periods }: Manifest, wrong: (message: string) => void) => {
  const [first, last] = [periods[0]?.first ?? null, periods.at(-1)?.last ?? null]
  if (firstNumber !== first || lastNumber !== last) {
    wrong(
      `its entries run from ${firstNumber} to ${lastNumber}, those of its periods from ${first} to ${last}`,
    )
  }
}

/** The files that the batch has whatever it holds, each with its format. */
const neededFiles = ({ base, formats, statements, tables }: Manifest) => {
  const summed =
    tables?.summary === undefined || tables.rated === true
      ? []
      : tablesOf(formats).filter(({ reader }) => reader.perEntry !== true)
  const { nativeMovements, statement, summaryEntries } = accompanyingFiles
  return [
    ...plainsOf(formats),
    ...(statements === undefined ? [] : [statement]),
    ...(base === undefined ? [] : [nativeMovements]),
    ...summed.map(({ name }) => ({
      name: summaryEntries.name,
      file: summaryEntries.file.replace("{format}", name),
    })),
  ]
}

/** With days of its own or entries the batch has the account files of a format, whose names have its days. */
const neededBeside = ({ entries, formats, formatVersion, scope: { from, to } }: Manifest) =>
  formatVersion > 1 && (entries > 0 || (from !== null && to !== null))
    ? tablesOf(formats).flatMap(({ accountFiles }) => accountFiles.map(({ name }) => name))
    : []

const checkFormats = (manifest: Manifest, problems: Problems): void => {
  const { bankStatements = [], files, formats } = manifest
  const lacks = (what: string) => problems.add(manifestFile, null, `names no file of ${what}`)
  for (const { format, name } of files) {
    if (isForeignTo(format, name)) problems.add(name, null, `is no file of the format ${format}`)
    if (formatOf(format) !== undefined && !formats.includes(format)) {
      problems.add(name, null, `has the format ${format}, in which the batch was not exported`)
    }
  }
  for (const { file, name } of neededFiles(manifest)) {
    if (!files.some((each) => each.format === name && each.name === file)) lacks(`${name}: ${file}`)
  }
  for (const name of neededBeside(manifest)) {
    if (!files.some(({ format }) => format === name)) lacks(name)
  }
  for (const { name } of bankStatementsOf(formats)) {
    for (const { account, currency } of bankStatements) {
      const isOne = (each: Manifest["files"][number]) =>
        each.format === name && each.account === account && each.currency === currency
      if (!files.some(isOne)) lacks(`${name} of the account ${account} in ${currency}`)
    }
  }
}

export const checkManifest = (manifest: Manifest, problems: Problems): void => {
  const wrong = (message: string) => problems.add(manifestFile, null, message)
  checkScope(manifest, wrong)
  checkCloses(manifest, wrong)
  checkNumbers(manifest, wrong)
  if (manifest.complete !== (manifest.reasons.length === 0)) {
    wrong(manifest.complete ? "is complete, but says why it is not" : "is not complete, but does not say why")
  }
  checkFormats(manifest, problems)
}
