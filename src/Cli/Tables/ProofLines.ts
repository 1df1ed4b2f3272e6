import { counted } from "../../Common/Text.ts"
import type { DatabaseProof } from "../../Proof.ts"

/** What a proof of the whole database says, line by line. */
export const proofLines = ({ batches, closes, ok, proofs }: DatabaseProof): ReadonlyArray<string> => [
  ...proofs.flatMap(({ count, name, wrong }) => [
    ...wrong.map(({ book, message, row }) => `${name}: ${book}: ${row} ${message}.`),
    ...(count > wrong.length ? [`${name}: … and ${count - wrong.length} more.`] : []),
  ]),
  ok
    ? `The database is whole: ${proofs.length} proofs hold, ${counted(closes, "close")} and ${counted(batches, "batch", "batches")} among them.`
    : `The database is not what was written: ${proofs.filter(({ count }) => count > 0).length} of ${proofs.length} proofs do not hold. Restore it from a backup, or find out who changed it.`,
]
