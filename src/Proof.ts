/**
 * Proves a whole database again from its own rows, without trusting any earlier proof, and names every row that is wrong. Reads
 * everything in one snapshot; changes nothing.
 */
import { Effect } from "effect"
import { inStage } from "./Common/Progress.ts"
import { int4 } from "./Database/Columns.ts"
import { Database } from "./Database.ts"
import { archives } from "./Proof/ArchivesProof.ts"
import { balances, numbers, transit } from "./Proof/BalancesProof.ts"
import * as BaseJournal from "./Proof/BaseJournalProof.ts"
import { states } from "./Proof/BaseStatesProof.ts"
import { batches } from "./Proof/BatchesProof.ts"
import { booked, chain } from "./Proof/CashProof.ts"
import { closes } from "./Proof/ClosesProof.ts"
import * as Evidence from "./Proof/EvidenceProof.ts"
import * as Journal from "./Proof/JournalNumbersProof.ts"
import * as Mirror from "./Proof/MirrorProof.ts"
import { type ProofQuery, type Wrong, wrongColumns } from "./Proof/ProofQuery.ts"
import { provable } from "./Proof/Provable.ts"
import { resources } from "./Proof/ResourcesProof.ts"
import { rules } from "./Proof/RulesProof.ts"
import { sequences } from "./Proof/SequencesProof.ts"
import { manifests, periods, sources } from "./Proof/SourcesProof.ts"

const queries: ReadonlyArray<ProofQuery> = [
  Journal.lines,
  Journal.balanced,
  Journal.accounts,
  Journal.dates,
  booked,
  chain,
  balances,
  transit,
  numbers,
  BaseJournal.lines,
  BaseJournal.natives,
  BaseJournal.values,
  BaseJournal.rates,
  BaseJournal.balances,
  sources,
  periods,
  Mirror.accounts,
  resources,
  Mirror.receivables,
  Mirror.verbatim,
  Evidence.reads,
  Evidence.findings,
  manifests,
  archives,
  sequences,
  rules,
]

/** Rows listed per proof: more would say nothing more. */
const shownRows = 50

export interface Proved {
  readonly name: string
  readonly proves: string
  /** At most 50; `count` counts all of them. */
  readonly wrong: ReadonlyArray<Wrong>
  readonly count: number
  /** The codes of the books of which it says nothing. */
  readonly passedOver: ReadonlyArray<string>
}

export interface DatabaseProof {
  readonly ok: boolean
  readonly proofs: ReadonlyArray<Proved>
  readonly closes: number
  readonly batches: number
}

/** `count` counts all rows, listed or not. */
const countedColumns = { ...wrongColumns, count: int4 }

const proved = Effect.fn("Proof.query")(function* ({ name, proves, wrong }: ProofQuery) {
  const database = yield* Database
  const rows = yield* database.rows(
    `Proof.${name}`,
    countedColumns,
    (sql) => sql`
      select w.*, count(*) over ()::integer as count from (${wrong(sql)}) w order by 1, 2, 3 limit ${shownRows}`,
  )
  return {
    name,
    proves,
    wrong: rows.map(({ book, message, row }) => ({ book, row, message })),
    count: rows[0]?.count ?? 0,
    passedOver: [],
  } satisfies Proved
})

/** A proof that cannot be carried out as a whole. */
const notCarriedOut = (why: string): Wrong => ({
  book: "all",
  row: "this proof",
  message: `cannot be carried out: ${why}`,
})

const nothingRead = (why: string) => ({ wrong: [notCarriedOut(why)], count: 0 })

const listed = (
  name: string,
  proves: string,
  wrong: ReadonlyArray<Wrong>,
  passedOver: ReadonlyArray<string> = [],
): Proved => ({
  name,
  proves,
  wrong: wrong.slice(0, shownRows),
  count: wrong.length,
  passedOver,
})

export const prove = Effect.fn("Proof.prove")(function* () {
  const database = yield* Database
  return yield* database.transaction(
    Effect.gen(function* () {
      const proofs: Array<Proved> = []
      const all = queries.length + 4
      const numbered = (name: string) =>
        inStage("verify", () => `proof ${proofs.length + 1} of ${all}, ${name}`)
      for (const query of queries) {
        const { name, proves } = query
        proofs.push(
          yield* numbered(name)(
            provable(proved(query), (why) => ({
              name,
              proves,
              wrong: [notCarriedOut(why)],
              count: 1,
              passedOver: [],
            })),
          ),
        )
      }
      proofs.push(
        listed(
          "base-states",
          "What every valued month leaves for the next is held, cost and revalued by its balances, its lots and its lines.",
          yield* numbered("base-states")(provable(states(), (why) => [notCarriedOut(why)])),
        ),
      )
      const again = yield* numbered("found-again")(
        provable(Evidence.unfound(), (why) => ({ wrong: [notCarriedOut(why)], passedOver: [] })),
      )
      proofs.push(
        listed(
          "found-again",
          "Everything that blocks or stands open, and that the checks find when they look at all of it again, is an open finding, in every book that was reconciled since it was read.",
          again.wrong,
          again.passedOver,
        ),
      )
      const closed = yield* numbered("closes")(provable(closes(), nothingRead))
      proofs.push(
        listed(
          "closes",
          "Every close that stands follows the one before it, and its journal and balances are those that were closed.",
          closed.wrong,
        ),
      )
      const exported = yield* numbered("batches")(provable(batches(), nothingRead))
      proofs.push(
        listed(
          "batches",
          "Every batch follows the one before it, its files are those that were exported, and its totals are the ledger's.",
          exported.wrong,
        ),
      )
      return {
        ok: proofs.every(({ count }) => count === 0),
        proofs,
        closes: closed.count,
        batches: exported.count,
      } satisfies DatabaseProof
    }),
    { isolation: "repeatable read", readOnly: true },
  )
})
