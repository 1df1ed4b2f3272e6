/** Reads delimited text by RFC 4180, one character after another; shares nothing with what wrote it. */
export const cellsOf = (text: string, delimiter: string): ReadonlyArray<ReadonlyArray<string>> => {
  const rows: Array<Array<string>> = []
  let row: Array<string> = []
  let cell = ""
  let within = false
  const chars = [...text]
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at] ?? ""
    if (within) {
      if (char !== '"') cell += char
      else if (chars[at + 1] === '"') {
        cell += '"'
        at += 1
      } else within = false
    } else if (char === '"') within = true
    else if (char === delimiter) {
      row.push(cell)
      cell = ""
    } else if (char === "\n") {
      row.push(cell.replace(/\r$/, ""))
      rows.push(row)
      row = []
      cell = ""
    } else cell += char
  }
  if (cell !== "" || row.length > 0) throw new Error("the last line does not end")
  return rows
}

/** A line of a journal as the accounting system would book it: an exact amount in 10⁻⁸, debit positive. */
export interface Booked {
  readonly journal: string
  /** `YYYY-MM-DD` */
  readonly date: string
  readonly account: string
  readonly amount: bigint
}

/** An exact decimal in 10⁻⁸. */
export const exact = (text: string, mark = "."): bigint => {
  const [, sign = "", whole = "", fraction = ""] =
    new RegExp(`^(-?)(\\d+)(?:\\${mark}(\\d{1,8}))?$`).exec(text) ?? []
  if (whole === "") throw new Error(`${JSON.stringify(text)} is no amount`)
  const value = BigInt(whole + fraction.padEnd(8, "0"))
  return sign === "-" ? -value : value
}

/** Exactly one of the two is filled. */
export const oneOf = (debit: string, credit: string): bigint => {
  if ((debit === "") === (credit === "")) throw new Error(`debit ${debit} and credit ${credit}`)
  return debit === "" ? -exact(credit) : exact(debit)
}
