/** Amounts, dates and journal numbers as an import file writes them. */
import { print } from "../../Common/MinorUnits.ts"
import { plainCode, shortened } from "../../Common/ShortCode.ts"
import { type TableJournal, Unholdable } from "./Journals.ts"
import type { DateStyle, Profile } from "./Profile.ts"

/** An amount without a sign. An amount with more digits than the format holds is refused, never rounded. */
export const unsigned = (
  minor: bigint,
  { currency, number, scale }: Pick<TableJournal, "currency" | "number" | "scale">,
  { decimals: { least, mark, most }, digits, name }: Profile,
): string => {
  const [whole = "", fraction = ""] = print(minor < 0n ? -minor : minor, scale).split(".")
  const needed = fraction.replace(/0+$/, "")
  if (needed.length > most || whole.length > digits) {
    throw new Unholdable(
      `${print(minor, scale)} ${currency} of ${number} does not fit ${name}, which takes ${digits} digits and ${most} decimals`,
    )
  }
  const shown = needed.padEnd(least, "0")
  return shown === "" ? whole : `${whole}${mark}${shown}`
}

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

/** A date (`YYYY-MM-DD`) in the format's order. */
export const dated = (date: string, style: DateStyle): string => {
  const [year = "", month = "", day = ""] = date.split("-")
  if (style === "iso") return date
  if (style === "YYYYMMDD") return `${year}${month}${day}`
  if (style === "DDMM") return `${day}${month}`
  if (style === "DD/MM/YYYY") return `${day}/${month}/${year}`
  if (style === "DD.MM.YYYY") return `${day}.${month}.${year}`
  if (style === "MM/DD/YYYY") return `${month}/${day}/${year}`
  return `${day} ${months[Number(month) - 1]} ${year}`
}

/** Characters for `-2026-10-` and a number, and for `-2610-` and a number; the last one marks a summary. */
const fullTail = 19
const shortTail = 15

/**
 * The journal number in at most `most` characters: in full where every number of the book fits, else the book's code (shortened,
 * with a checksum, only where this number has no room otherwise), the month as four digits and the number. The same number always
 * gives the same text. A summary ends in S.
 */
export const numbered = (number: string, most: number, summary: boolean): string => {
  const [, code = "", year = "", month = "", digits = ""] = /^(.*)-(\d{4})-(\d{2})-(\d+)$/.exec(number) ?? []
  const plain = plainCode(code)
  const end = summary ? "S" : ""
  const tail = `-${year.slice(2)}${month}-${digits}`
  const fits = plain.length + tail.length + end.length <= most
  const text =
    plain.length + fullTail <= most
      ? `${plain}-${year}-${month}-${digits}${end}`
      : `${fits ? plain : shortened(plain, most - shortTail)}${tail}${end}`
  if (text.length > most)
    throw new Unholdable(`the journal number ${number} has no room in ${most} characters`)
  return text
}
