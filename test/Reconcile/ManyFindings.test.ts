/** What is asked of a book takes as much for each of its open findings and rows in quarantine, however many there are. */
import { expect, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { describe } from "vitest"
import { allBooks } from "../../src/Book.ts"
import { probing } from "../../src/Database/DatabaseConfig.ts"
import type { Database } from "../../src/Database.ts"
import { accountStandings } from "../../src/Inquiry/AccountStandings.ts"
import { acceptedStreams } from "../../src/Mirror/AcceptedStreams.ts"
import { openCounts, openFindings } from "../../src/Reconcile/Summary.ts"
import { bookTieOuts } from "../../src/Reconcile/TieOut.ts"
import { unansweredFindings } from "../../src/Reconcile/Unanswered.ts"
import * as Overview from "../../src/Serve/Overview/OpenFindings.ts"
import { Settings } from "../../src/Settings.ts"
import { rowsTouched } from "../support/RowsTouched.ts"
import { sessionsOf } from "../support/SessionsOf.ts"
import { unruled } from "../support/unruled.ts"

type Ask = Effect.Effect<unknown, unknown, Database | Settings>

const asked = Effect.gen(function* () {
  const books = yield* allBooks(Option.none())
  const ids = books.map(({ bookId }) => bookId)
  return new Map<string, Ask>([
    ["whether everything ties out", bookTieOuts(null)],
    ["whether the book ties out", bookTieOuts(ids)],
    ["how much is open", openCounts(books)],
    ["what is open", openFindings(books, Option.none())],
    ["what is open of a month", openFindings(books, Option.some("2026-10"))],
    ["what nobody has answered for", unansweredFindings(ids, null)],
    ["what nobody has answered for in a month", unansweredFindings(ids, "2026-10-31")],
    ["what the page lists", Overview.openFindings()],
    ["what the page counts", Overview.findingCounts()],
    ["what the page says of the quarantine", Overview.quarantined()],
    ["which streams are accepted", acceptedStreams(ids)],
    ["how the accounts stand", accountStandings(books, { newEntries: new Map(), partly: new Set() })],
  ])
})

const touched = Effect.gen(function* () {
  const found = new Map<string, number>()
  for (const [question, ask] of yield* asked) found.set(question, yield* rowsTouched(ask))
  return found
})

const book = unruled(`
  insert into mirror.books (connection, client_id, code, name) values ('default', null, 'ORG', 'Organization');
  insert into ledger.locks (book_id, time_zone) select book_id, 'UTC' from mirror.books on conflict do nothing`)

/**
 * So many accounts, each with a finding and with a row of its statement in quarantine, which is a finding as well. `accepted`: a close has
 * accepted all that blocks.
 */
const waiting = (from: number, to: number, severity: string, accepted: boolean, statistics: string) =>
  unruled(`
    insert into mirror.accounts (book_id, account_id, currency, payment_rails, status, balance, balance_read_at, raw,
      last_balance, tail_read_at, run_id)
    select book_id, md5('a' || n)::uuid, 'EUR', 'SEPA', 'ACTIVE', 0, now(), '{}', 0, now(), 1
    from mirror.books, generate_series(${from}, ${to}) n;
    insert into reconcile.findings (book_id, check_name, severity, subject_type, subject_id, message, evidence, opened_run)
    select book_id, 'account-gone', '${severity}', 'account', md5('a' || n)::uuid::text, 'Gone.',
      '{"occurredAt": "2026-10-05T00:00:00Z"}', 1
    from mirror.books b, generate_series(${from}, ${to}) n;
    insert into reconcile.findings (book_id, check_name, severity, subject_type, subject_id, message, evidence, opened_run)
    select book_id, 'quarantine', 'blocking', 'stream', 'statement:' || md5('a' || n)::uuid, 'Not understood.', '{}', 1
    from mirror.books b, generate_series(${from}, ${to}) n;
    insert into mirror.quarantine (book_id, stream, raw, reason, path, digest, run_id)
    select book_id, 'statement:' || md5('a' || n)::uuid, '{}', 'is missing', '$.createdAt', md5(n::text), 1
    from mirror.books, generate_series(${from}, ${to}) n;
    ${
      accepted
        ? `insert into ledger.closes (book_id, sequence, period, action, hash, entries, who, accepted)
    select book_id, ${to}, '2026-10-01', 'close', 'x', 0, 'x', (
      select jsonb_agg(jsonb_build_object('id', 'F' || f.finding_id, 'evidence', md5(f.evidence::text))) from reconcile.findings f)
    from mirror.books;`
        : ""
    }
    ${statistics}`)

const shapes = [
  ["warnings", "warning", false],
  ["what blocks", "blocking", false],
  ["what was accepted", "blocking", true],
] as const

const sessions = [
  ["where there are no statistics", {}, ""],
  ["with statistics", {}, "analyze"],
  ["in a session that only probes indexes", probing, "analyze"],
] as const

describe.each(shapes)(
  "of twice as much that is open, the server goes through twice as many rows: %s",
  (_, severity, accepted) => {
    it.scoped.each(sessions)("%s", ([, session, statistics]) =>
      Effect.gen(function* () {
        yield* book
        yield* waiting(1, 100, severity, accepted, statistics)
        const before = yield* touched
        yield* waiting(101, 200, severity, accepted, statistics)
        const after = yield* touched
        for (const [question, rows] of before) {
          expect(after.get(question), question).toBeLessThan(2.6 * rows + 100)
        }
      }).pipe(Effect.provide(Layer.merge(Settings.from({ variables: {} }), sessionsOf(session)))),
    )
  },
)
