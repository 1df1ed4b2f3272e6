/** Reads SIE 4I line by line: what identifies the file, the accounts, then vouchers as blocks. */
import { dateOf, journalOf, must, signed } from "../Reading/Booked.ts"
import type { Cell } from "../Reading/LineCells.ts"
import type { Reader } from "../Reading/Reader.ts"

/** Each once and in this order; the organization number may be missing. */
const heading = ["#FLAGGA", "#PROGRAM", "#FORMAT", "#GEN", "#SIETYP", "#ORGNR", "#FNAMN", "#VALUTA"]

interface Voucher {
  readonly journal: string
  readonly date: string
  open: boolean
  rows: number
}

const textsOf = (cells: ReadonlyArray<Cell>): ReadonlyArray<string> => cells.map(({ text }) => text)

const isFixed = (text: string): boolean =>
  text === "#FLAGGA 0" || text === "#FORMAT PC8" || text === "#SIETYP 4"

export const sieReader: Reader = {
  holds: "lines",
  isRow: ([first]) => first?.text === "#TRANS",
  rows: ({ layout, mode }) => {
    let headed = 0
    let currency = ""
    const accounts = new Set<string>()
    let voucher: Voucher | undefined

    const readHeading = (label: string, texts: ReadonlyArray<string>): void => {
      const place = heading.indexOf(label)
      const expected = heading[headed] === "#ORGNR" && label === "#FNAMN" ? headed + 1 : headed
      must(place === expected, `${label} is not where it belongs`)
      headed = place + 1
      if (label === "#VALUTA") currency = texts[1] ?? ""
      if (place === 0 || place === 2 || place === 4)
        must(isFixed(texts.join(" ")), `Tieout never writes ${texts.join(" ")}`)
      else if (label === "#GEN") dateOf(texts[1] ?? "", layout.date)
      else must((texts[1] ?? "") !== "", `${label} says nothing`)
    }

    const readAccount = ([, account = "", name = "", ...more]: ReadonlyArray<string>): void => {
      must(headed === heading.length && /^\d{3,8}$/.test(account) && name !== "", "is no account")
      must(more.length === 0 && !accounts.has(account), `the account ${account} is named twice`)
      accounts.add(account)
    }

    const begin = (texts: ReadonlyArray<string>): void => {
      const [, , number, day = "", text = "", ...more] = texts
      must(headed === heading.length, "the heading is not whole")
      must(voucher === undefined, "the voucher before has no end")
      must(number === "" && more.length === 0, "is no beginning of a voucher")
      const date = dateOf(day, layout.date)
      voucher = { journal: journalOf(text.split(" ", 1)[0] ?? "", mode), date, open: false, rows: 0 }
    }

    const line = (texts: ReadonlyArray<string>) => {
      const [, account = "", objects, amount = "", day = "", text = ""] = texts
      must(voucher?.open === true && texts.length === 6, "is no line of a voucher")
      must(objects === "{}" && text !== "", "is no line of ours")
      must(accounts.has(account), `the account ${account} has no #KONTO`)
      must(/^-?\d+\.\d{2}$/.test(amount), `${amount} has not two decimals`)
      const date = dateOf(day, layout.date)
      must(date === voucher?.date, "the line has another date than its voucher")
      if (voucher !== undefined) voucher.rows += 1
      return [
        {
          ...{ journal: voucher?.journal ?? "", date, account, currency },
          amount: signed(amount, layout.decimalMark),
        },
      ]
    }

    return (cells) => {
      const texts = textsOf(cells)
      const [label = ""] = texts
      if (label === "#TRANS") return line(texts)
      if (label === "#VER") begin(texts)
      else if (label === "#KONTO") readAccount(texts)
      else if (label === "{" || label === "}") {
        must(texts.length === 1 && voucher?.open === (label === "}"), `${label} is not where it belongs`)
        must(label === "{" || (voucher?.rows ?? 0) > 0, "the voucher has no line")
        if (voucher !== undefined) voucher.open = true
        if (label === "}") voucher = undefined
      } else readHeading(label, texts)
      return []
    }
  },
}
