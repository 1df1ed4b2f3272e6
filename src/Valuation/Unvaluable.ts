/** What does not add up: a mistake of ours or of the books, never plugged. */
export class Unvaluable extends Error {
  override readonly name = "Unvaluable"
}
