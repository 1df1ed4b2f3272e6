/** A book's code in a journal number that has room for few characters. */
import { createHash } from "node:crypto"

/** Letters, digits and dashes, which every system takes. */
export const plainCode = (code: string): string => code.replaceAll(/[^A-Za-z0-9-]/g, "-")

/** Whether a shortened number with this beginning may belong to the book. It may fit several books. */
export const isShortOf = (code: string, beginning: string): boolean => {
  const plain = plainCode(code)
  const found = beginning.toUpperCase()
  return (
    plain.toUpperCase() === found ||
    (found.length > 4 && shortened(plain, found.length).toUpperCase() === found)
  )
}

/** The code in at most so many characters; a longer one is cut and ends in a checksum of four. */
export const shortened = (code: string, room: number): string =>
  code.length <= room
    ? code
    : `${code.slice(0, room - 4)}${createHash("sha256").update(code).digest("hex").slice(0, 4).toUpperCase()}`
