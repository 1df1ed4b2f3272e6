/** The parts of its commands' JSON documents that the demo reads. */

const property = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined

const listOf = (value: unknown, name: string): ReadonlyArray<unknown> => {
  const found = property(value, name)
  return Array.isArray(found) ? found : []
}

const text = (value: unknown): ReadonlyArray<string> => (typeof value === "string" ? [value] : [])

const documentOf = (answer: string): unknown => JSON.parse(answer)

export interface WrittenFile {
  readonly name: string
  readonly rows: number
}

export interface Written {
  readonly folder: string
  readonly files: ReadonlyArray<WrittenFile>
}

/** The folders that `tieout export` or `tieout report` wrote, with their files where it names them. */
export const written = (answer: string, list: "batches" | "reports"): ReadonlyArray<Written> =>
  listOf(documentOf(answer), list).flatMap((one) =>
    text(property(one, "folder")).map((folder) => ({
      folder,
      files: listOf(one, "files").flatMap((file) => {
        const rows = property(file, "rows")
        return text(property(file, "name")).map((name) => ({
          name,
          rows: typeof rows === "number" ? rows : 0,
        }))
      }),
    })),
  )

/** The findings that stand in the way of a close, by `tieout close --dry-run`. */
export const blocking = (answer: string): ReadonlyArray<string> =>
  listOf(documentOf(answer), "books").flatMap((book) =>
    listOf(book, "blockers").flatMap((blocker) => text(property(blocker, "id"))),
  )
