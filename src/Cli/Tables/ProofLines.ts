import { counted } from "../../Common/Text.ts"
import { rules } from "../../Proof/RulesProof.ts"
import type { DatabaseProof } from "../../Proof.ts"

/** The most books that a line names. */
const mostNamed = 10

const namesOf = (books: ReadonlyArray<string>): string =>
  books.length <= mostNamed
    ? books.join(", ")
    : `${books.slice(0, mostNamed).join(", ")} and ${counted(books.length - mostNamed, "other")}`

/**
 * The conclusion where something does not hold. A changed rule or setting is no changed row, and no backup is needed for it; but the
 * other proofs read through views and functions of the database, so that they prove nothing before it is taken back.
 */
const failure = (proofs: DatabaseProof["proofs"]): string => {
  const failing = proofs.filter(({ count }) => count > 0)
  const isRules = ({ name }: (typeof failing)[number]): boolean => name === rules.name
  if (failing.every(isRules))
    return "No row was found wrong, but the database's rules are not ours, and the other proofs rest on them: take back what is named above, run this again, and find out who changed it."
  const said = `The database is not what was written: ${failing.length} of ${proofs.length} proofs ${failing.length === 1 ? "does" : "do"} not hold.`
  return failing.some(isRules)
    ? `${said} Its rules are among them, and the others rest on these: take back what is named of the rules and run this again. What is wrong then as well: restore it from a backup, or find out who changed it.`
    : `${said} Restore it from a backup, or find out who changed it.`
}

/** What a proof of the whole database says, line by line. */
export const proofLines = ({ batches, closes, ok, proofs }: DatabaseProof): ReadonlyArray<string> => [
  ...proofs.flatMap(({ count, name, passedOver, wrong }) => [
    ...wrong.map(({ book, message, row }) => `${name}: ${book}: ${row} ${message}.`),
    ...(count > wrong.length ? [`${name}: … and ${count - wrong.length} more.`] : []),
    ...(passedOver.length === 0
      ? []
      : [
          `Note: ${name} says nothing of ${namesOf(passedOver)}, where a run came after the last reconciliation. To look there as well: tieout reconcile, then this again.`,
        ]),
  ]),
  ok
    ? `The database is whole: ${proofs.length} proofs hold, ${counted(closes, "close")} and ${counted(batches, "batch", "batches")} among them.`
    : failure(proofs),
]
