/** What the files of an accounting system's format are written from. */
import type { AccountFile } from "../../../Format/Table/Define.ts"
import type { JournalChoice } from "../../../Format/Table/JournalChoice.ts"
import type { Days } from "../../Request/Days.ts"

export interface TableContext extends JournalChoice {
  /** ISO 8601 in UTC. */
  readonly createdAt: string
  /** `YYYY-MM-DD`, in the book's time zone. */
  readonly createdOn: string
  /** The first and the last day, `YYYY-MM-DD`; null where there is nothing to write. */
  readonly days: Days | null
  /** Files of the book's accounts that stand beside; they come last, with the totals of the entries. */
  readonly accountFiles: ReadonlyArray<AccountFile>
  readonly book: { readonly code: string; readonly name: string }
  /** By account of the system, as all of the book's accounts make them: the same in every file of the book. */
  readonly names: ReadonlyMap<string, string>
}
