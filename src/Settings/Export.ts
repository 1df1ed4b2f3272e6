/** What becomes of exports beside their folders. */
import { Schema } from "effect"
import { withDefault } from "../Common/Field.ts"

export const Export = Schema.Struct({
  /** Whether a batch's files are kept in the database too, compressed, so that `tieout batches download` needs no folder. */
  keepFiles: withDefault(Schema.Boolean, true),
})
