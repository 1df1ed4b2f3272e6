/** Reads NetSuite's journal entries, by the positions of the documented columns. */
import { atRate, dateOf, debitOrCredit, type FileContext, journalOf, must, row } from "../Reading/Booked.ts"
import type { Cell } from "../Reading/LineCells.ts"
import type { Reader } from "../Reading/Reader.ts"

const bookedIn = (context: FileContext, cells: ReadonlyArray<Cell>) => {
  const cell = row(cells, 10)
  must(cell(3) === context.currency, `the currency is ${JSON.stringify(cell(3))}`)
  return {
    rate: cell(4),
    booked: {
      journal: journalOf(cell(0), context.mode),
      date: dateOf(cell(1), context.layout.date),
      account: cell(6),
      currency: context.currency,
      amount: debitOrCredit(cell(7), cell(8), context.layout.decimalMark),
    },
  }
}

export const netsuiteReader: Reader = {
  holds: "lines",
  rows: (context) => (cells) => {
    const { booked, rate } = bookedIn(context, cells)
    must(rate === "", "there is an exchange rate")
    return [booked]
  },
}

/** A journal has one rate. */
export const netsuiteRatedReader: Reader = {
  holds: "lines",
  rows: (context) => {
    let journal = ""
    let last = ""
    return (cells) => {
      const { booked, rate } = bookedIn(context, cells)
      must(booked.journal !== journal || rate === last, `the rate is ${rate}, on the line before ${last}`)
      journal = booked.journal
      last = rate
      must(
        rate === "1" || context.currency !== context.baseCurrency,
        `the base currency has the rate ${rate}`,
      )
      return [{ ...booked, base: atRate(booked.amount, rate, context.layout.decimalMark) }]
    }
  },
}
