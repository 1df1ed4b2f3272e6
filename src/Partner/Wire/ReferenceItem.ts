import type { ReferenceItem } from "../../Partner.ts"
import { uuid } from "./Fields.ts"
import { type Decoder, storable } from "./Row.ts"

/** An item of which only the identifier is understood. */
export const decoder = (idField: string): Decoder<ReferenceItem> => ({
  idField,
  decode: (row, source) => ({ id: uuid(row, idField), raw: storable(source()) }),
})
