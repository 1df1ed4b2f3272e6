/** A finding of a book without accounts is accepted by a close of that book: others say so. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ofOtherBooks } from "../../src/Close/OtherBooks.ts"
import { client, clientId, lending, move } from "../Sync/Lending.ts"
import { rows, sync } from "../Sync/Runs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
