/** The part of the manifest by which a folder's files can be read back without the settings, the mapping or the database. */
import type { OpenedAccount } from "../../../Format/Entry.ts"
import { bankStatementsOf } from "../../../Format/Formats.ts"
import type { Profile } from "../../../Format/Table/Profile.ts"
import type { WrittenStatement } from "../../Source/StatementCsv.ts"
import { type BankSpan, bankEntries, bankStatementsAlone, type Layout, type Manifest } from "../Manifest.ts"
import type { TableContext } from "../TableFiles/TableContext.ts"

export const layoutOf = (profile: Profile): Layout => ({
  columns: profile.columns.map(({ header }) => header),
  header: profile.header,
  encoding: profile.encoding,
  delimiter: profile.delimiter,
  lineEnd: profile.lineEnd === "\n" ? "LF" : "CRLF",
  date: profile.date,
  decimalMark: profile.decimals.mark,
  rowsPerFile: profile.limits.rowsPerFile,
})

const mappedOf = (account: OpenedAccount["account"], contexts: ReadonlyArray<TableContext>) => {
  const names = contexts.flatMap(({ mapping, profile }) => {
    const mapped = mapping.get(account)
    return mapped === undefined ? [] : [[profile.name, mapped.account] as const]
  })
  return names.length === 0 ? {} : { mapped: Object.fromEntries(names) }
}

/** Bank statements have days and entries of their own, whatever the journal of the same days has. */
const ofWhatItHolds = (manifest: Manifest): Manifest =>
  bankStatementsOf(manifest.formats).length < manifest.formats.length
    ? manifest
    : {
        ...manifest,
        holds: bankStatementsAlone,
        ...{ entries: bankEntries(manifest), postings: 0, firstNumber: null, lastNumber: null },
        ...{ periods: [], currencies: [], accounts: [] },
      }

/** `accounts` are the manifest's, in its order. */
export const withReadBack = (
  manifest: Manifest,
  accounts: ReadonlyArray<OpenedAccount>,
  contexts: ReadonlyArray<TableContext>,
  statement: WrittenStatement | undefined,
  banks: ReadonlyArray<{ readonly files: Manifest["files"]; readonly spans: ReadonlyArray<BankSpan> }>,
): Manifest => {
  const { tables } = manifest
  const layouts = Object.fromEntries(contexts.map(({ profile }) => [profile.name, layoutOf(profile)]))
  return ofWhatItHolds({
    ...manifest,
    ...(tables === undefined ? {} : { tables: { ...tables, layouts } }),
    files: [
      ...manifest.files,
      ...banks.flatMap(({ files }) => files),
      ...(statement === undefined ? [] : [statement.file]),
    ],
    accounts: manifest.accounts.map((total, at) => {
      const opened = accounts[at]
      return opened === undefined ? total : { ...total, ...mappedOf(opened.account, contexts) }
    }),
    ...(statement === undefined ? {} : { statements: statement.statements }),
    ...(banks.length === 0 ? {} : { bankStatements: banks.flatMap(({ spans }) => spans) }),
  })
}
