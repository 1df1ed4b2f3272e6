/** A restored `pg_dump` makes triggers and views from the words that the server prints of them. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Database } from "../../src/Database.ts"
import { rules } from "../../src/Proof/RulesProof.ts"
import { rows } from "../Sync/Runs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const ours = "in ('export', 'ledger', 'mirror', 'reconcile', 'sync', 'valuation', 'webhook')"

/** Makes each of them again as it is printed; constraint triggers can only be dropped first. */
const asPrinted = `
  do $$
  declare
    one record;
  begin
    for one in
      select t.tgname as name, t.tgrelid::regclass as owner, t.tgconstraint <> 0 as is_constraint, pg_get_triggerdef(t.oid) as made
      from pg_trigger t join pg_class c on c.oid = t.tgrelid
      where not t.tgisinternal and t.tgparentid = 0 and c.relnamespace::regnamespace::text ${ours}
    loop
      execute format('drop trigger %I on %s', one.name, one.owner);
      execute one.made;
    end loop;
    for one in
      select c.oid::regclass as name, pg_get_viewdef(c.oid) as made
      from pg_class c where c.relkind = 'v' and c.relnamespace::regnamespace::text ${ours}
    loop
      execute format('create or replace view %s as %s', one.name, one.made);
    end loop;
  end $$`

layer(TestDatabase.layer, { excludeTestServices: true })("verify --database after pg_dump", (it) => {
  it.effect("knows the rules again", () =>
    Effect.gen(function* () {
      const database = yield* Database
      yield* rows(asPrinted)
      const wrong = yield* database.query(
        "Test.rules",
        (sql) => sql<Array<{ row: string; message: string }>>`${rules.wrong(sql)}`,
      )
      expect(wrong.map(({ message, row }) => `${row} ${message}`)).toEqual([])
    }),
  )
})
