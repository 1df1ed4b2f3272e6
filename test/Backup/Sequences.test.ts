/** Numbers that sequences give: a copy of the rows alone would have them given twice. */
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { restore } from "../../src/Backup/Restore.ts"
import { backup } from "../../src/Backup.ts"
import { sequencesSetBack } from "../../src/Database/GivenNumbers.ts"
import { Database } from "../../src/Database.ts"
import { prove } from "../../src/Proof.ts"
import { Settings } from "../../src/Settings.ts"
import { credit, partnership } from "../Sync/Partnership.ts"
import { rows, sync } from "../Sync/Runs.ts"
import { as, roles } from "../support/Roles.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const lastOf = rows(`
  select format('%s.%s %s', schemaname, sequencename, last_value) as sequence from pg_sequences
  where schemaname not in ('drizzle', 'jobs') order by 1`)

const schemas = "export, ledger, mirror, reconcile, sync, valuation, webhook"

/** Of rows alone: a role that may read tables is often not given the sequences. */
const withoutSequences = rows(`
  do $$ declare held record; begin
    for held in select format('%I.%I', schemaname, sequencename) as name from pg_sequences where schemaname <> 'drizzle' loop
      execute format('alter sequence %s restart', held.name);
    end loop;
  end $$`)

const found = Effect.map(Effect.provide(prove(), Settings.from({ variables: {} })), ({ proofs }) =>
  proofs.flatMap(({ wrong }) => wrong.map(({ message, row }) => `${row} ${message}`)),
)

const booked = Effect.gen(function* () {
  const service = yield* partnership()
  service.held.statement = [credit(1, "5.00", "5.00")]
  service.held.balance = "5.00"
  yield* sync(service.service.url)
  yield* sync(service.service.url)
  return service
})

it.scopedLive("a backup that the auditor makes is restored with the numbers that come next", () =>
  Effect.gen(function* () {
    const file = join(temporaryFolder(), "tieout.gz")
    const { held, last, service } = yield* Effect.gen(function* () {
      const made = yield* booked
      yield* Effect.scoped(Effect.flatMap(roles, ({ auditor }) => backup(file).pipe(as(auditor))))
      return { ...made, last: yield* lastOf }
    }).pipe(Effect.provide(TestDatabase.layer))
    yield* Effect.gen(function* () {
      yield* restore(file)
      expect(yield* lastOf).toEqual(last)
      held.statement = [...held.statement, credit(2, "5.00", "10.00")]
      held.balance = "10.00"
      expect((yield* sync(service.url)).counters.entries).toBe(1)
    }).pipe(Effect.provide(TestDatabase.blankLayer))
  }),
)

it.scopedLive(
  "one that a role made which sees no sequence goes on behind the highest numbers of its rows",
  () =>
    Effect.gen(function* () {
      const file = join(temporaryFolder(), "tieout.gz")
      const { held, service } = yield* Effect.gen(function* () {
        const made = yield* booked
        yield* Effect.scoped(
          Effect.flatMap(roles, ({ auditor }) =>
            Effect.zipRight(
              rows(`revoke all on all sequences in schema ${schemas} from ${auditor}`),
              backup(file).pipe(as(auditor)),
            ),
          ),
        )
        return made
      }).pipe(Effect.provide(TestDatabase.layer))
      yield* Effect.gen(function* () {
        yield* restore(file)
        expect(yield* found).toEqual([])
        held.statement = [...held.statement, credit(2, "5.00", "10.00")]
        held.balance = "10.00"
        expect((yield* sync(service.url)).counters.entries).toBe(1)
      }).pipe(Effect.provide(TestDatabase.blankLayer))
    }),
)

it.scopedLive(
  "where sequences were not copied with the tables, the proof names them and the sync says so",
  () =>
    Effect.gen(function* () {
      const { service } = yield* booked
      yield* withoutSequences
      const wrong = yield* found
      expect(wrong).toContain(
        "sequence sync.runs_run_id_seq stands at 0, and rows have numbers up to 2, as after a copy of the tables without it: run select setval('sync.runs_run_id_seq', 2); as the owner of the tables",
      )
      const { message } = yield* Effect.flip(sync(service.url))
      expect(message).toContain("Nothing of this transaction was kept. The sequence that gives these numbers")
      const { execute } = yield* Database
      for (const text of wrong)
        yield* execute("Test.set", (sql) => sql.unsafe(/select setval[^;]*/.exec(text)?.[0] ?? ""))
      expect(yield* found).toEqual([])
      yield* sync(service.url)
    }).pipe(Effect.provide(TestDatabase.layer)),
)

it.scopedLive("a numbering step that was set back gives no number, also where nothing was exported", () =>
  Effect.gen(function* () {
    const { held, service } = yield* booked
    yield* rows("select setval('ledger.numbering_step', 1, false)")
    held.statement = [...held.statement, credit(2, "5.00", "10.00")]
    held.balance = "10.00"
    const { message } = yield* Effect.flip(sync(service.url))
    expect(message).toContain("numbering step 1 was given already: the sequence was set back, tieout verify")
    // Each try takes a step.
    yield* sync(service.url)
    expect(yield* found).toEqual([])
  }).pipe(Effect.provide(TestDatabase.layer)),
)

it.scopedLive("every sequence that gives numbers is looked at", () =>
  Effect.gen(function* () {
    const given = yield* rows(`
      select format('%s.%s', schemaname, sequencename) as name from pg_sequences where schemaname not in ('drizzle', 'jobs')`)
    expect(given.length).toBeGreaterThan(0)
    expect(given.filter(({ name }) => !sequencesSetBack.includes(`'${name}'`))).toEqual([])
  }).pipe(Effect.provide(TestDatabase.layer)),
)
