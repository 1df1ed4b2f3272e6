/** Writes the database to a file, and puts what such a file holds in the database's place, as after a disk that broke. */
import { mkdir, readdir, rename, stat } from "node:fs/promises"
import { dirname, join } from "node:path"
import { Effect } from "effect"
import { restore } from "../../../src/Backup/Restore.ts"
import { backup } from "../../../src/Backup.ts"
import type { Book } from "../../../src/Book.ts"
import type { Database } from "../../../src/Database.ts"
import { replaced } from "../Server.ts"
import { asideOf, type Site } from "../Site.ts"
import type { Told } from "../World.ts"
import { at } from "./Interrupting.ts"
import { noteRuled } from "./Reruling.ts"

/** A backup, and all that its database knew. What came later is lost where it is restored. */
export interface Copy {
  readonly file: string
  readonly told: Told
  readonly known: Pick<Site, "closed" | "remembered" | "rules">
  /** How much there was of each. */
  readonly noted: Readonly<Record<"reclassified" | "corrected" | "moments" | "ruled", number>>
  /** The folders of exports. */
  readonly folders: ReadonlySet<string>
}

/** The folders of batches, each named by its number. */
const foldersOf = async ({ out }: Site): Promise<ReadonlyArray<string>> => {
  const found = await readdir(out, { recursive: true, withFileTypes: true }).catch(() => [])
  return found.flatMap((one) => (/^\d+$/.test(one.name) ? [join(one.parentPath, one.name)] : []))
}

const copied = (site: Site) =>
  Effect.gen(function* () {
    const { closed, corrected, moments, reclassified, remembered, ruled, rules, world } = site
    const beside = asideOf(site)
    yield* Effect.promise(() => mkdir(beside, { recursive: true }))
    const { file } = yield* backup(join(beside, `${performance.now()}.gz`))
    site.copy = {
      file,
      told: world.told,
      known: { closed, remembered, rules },
      noted: {
        ...{ reclassified: reclassified.length, corrected: corrected.length },
        ...{ moments: moments.length, ruled: ruled.length },
      },
      folders: new Set(yield* Effect.promise(() => foldersOf(site))),
    }
  })

/** Backs up between other operations, or at that request of a sync. */
export const backupAt = <E, R>(
  site: Site,
  during: number | undefined,
  sync: Effect.Effect<string, E, R>,
): Effect.Effect<string, Effect.Effect.Error<ReturnType<typeof backup>> | E, R | Database> => {
  if (during === undefined) return Effect.as(copied(site), "a backup")
  return Effect.flatMap(Effect.context<Database>(), (context) =>
    at(site, during, Effect.orDie(Effect.provide(copied(site), context)), sync),
  )
}

/** Moves away the folders of batches that the restored database does not know, as whoever restores is told to. */
const movedAway = async (site: Site, { folders }: Copy): Promise<number> => {
  const later = (await foldersOf(site)).filter((folder) => !folders.has(folder))
  for (const folder of later) {
    const to = join(asideOf(site), `${performance.now()}`, folder.slice(site.out.length))
    await mkdir(dirname(to), { recursive: true })
    await rename(folder, to)
  }
  return later.length
}

export const restored = (site: Site, books: Effect.Effect<ReadonlyArray<Book>, never, Database>) =>
  Effect.gen(function* () {
    const { copy } = site
    if (copy === null) return "no backup"
    const { bytes, rows } = yield* replaced(site.database, restore(copy.file)).pipe(
      Effect.zipWith(
        Effect.promise(() => stat(copy.file)),
        ({ rows: loaded }, { size }) => ({ bytes: size, rows: loaded }),
      ),
    )
    const { rules } = site
    Object.assign(site, copy.known)
    site.world.untell(copy.told)
    site.reclassified.length = copy.noted.reclassified
    site.corrected.length = copy.noted.corrected
    site.moments.length = copy.noted.moments
    site.ruled.length = copy.noted.ruled
    // The settings are not in the database: what it has booked was booked by the rules of then.
    if (rules !== copy.known.rules) yield* noteRuled(site, yield* books, null)
    site.rules = rules
    const away = yield* Effect.promise(() => movedAway(site, copy))
    return `${rows} rows of ${bytes} bytes, ${away} folders moved away`
  }).pipe(Effect.orDie)
