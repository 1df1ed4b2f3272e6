import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestDatabase } from "../support/TestDatabase.ts"
import { credit, partnership } from "./Partnership.ts"
import { postings, rows, sync } from "./Runs.ts"

/** As two accounts of a book are refused that put the same entry right at once: the first so many times. */
const refused = (times: number) =>
  rows(`
    create sequence public.attempts;
    create function public.refuse_at_first() returns trigger language plpgsql as $$
    begin
      if nextval('public.attempts') <= ${times} then
        raise unique_violation using constraint = 'journal_entries_source', message = 'booked by the other one';
      end if;
      return null;
    end $$;
    create trigger refused_at_first after insert on ledger.journal_entries
      for each statement execute function public.refuse_at_first()`)

layer(TestDatabase.layer, { excludeTestServices: true })("a plan that the books have overtaken", (it) => {
  it.scoped("is made again, and what it books is booked once", () =>
    Effect.gen(function* () {
      const { service } = yield* partnership({ balance: "10.00", statement: [credit(11, "10.00", "10.00")] })
      yield* refused(5)
      yield* sync(service.url)
      expect(yield* postings).toEqual(["adjustment cash 10, suspense -10"])
      expect(yield* rows("select last_value::integer as tries from public.attempts")).toEqual([{ tries: 6 }])
    }),
  )
})
