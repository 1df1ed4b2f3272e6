/** Reads ISO 20022 camt.053.001.08 by the paths of its elements. */
import { dateOf, exact, journalOf, must } from "../Reading/Booked.ts"
import type { ReadEntry, ReadStatement, StatementReader } from "../Reading/Statements.ts"
import { type Element, XmlLines } from "../Reading/Xml.ts"

const namespace = "urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"
const root = "Document/BkToCstmrStmt/"
const statement = `${root}Stmt`

/** The parts read of one element, by their paths below it. */
class Parts {
  private readonly found = new Map<string, Element>()

  /** Of parts that may be repeated (texts of a payment) the last is kept; they are not used. */
  add(path: string, element: Element): void {
    this.found.set(path, element)
  }

  text(path: string): string {
    const element = this.found.get(path)
    must(element !== undefined && element.text !== "", `${path} is missing`)
    return element?.text ?? ""
  }

  optional(path: string): string | undefined {
    return this.found.get(path)?.text
  }

  /** A signed amount of an element with `Amt` and `CdtDbtInd`. */
  amount(before: string, currency: string): bigint {
    const amount = this.found.get(`${before}Amt`)
    must(amount?.attributes.get("Ccy") === currency, `${before}Amt is not in ${currency}`)
    return this.directed(before)
  }

  directed(before: string): bigint {
    const value = this.decimal(`${before}Amt`)
    const direction = this.text(`${before}CdtDbtInd`)
    must(direction === "CRDT" || direction === "DBIT", `${direction} is no direction`)
    return direction === "CRDT" ? value : -value
  }

  decimal(path: string): bigint {
    const value = exact(this.text(path), ".")
    must(value >= 0n, `${path} is negative`)
    return value
  }
}

const count = (text: string): number => {
  must(/^\d{1,15}$/.test(text), `${JSON.stringify(text)} is no number of entries`)
  return Number(text)
}

const day = (text: string): string => dateOf(text, "iso")

const entryOf = (parts: Parts, currency: string): ReadEntry => {
  must(parts.text("Sts/Cd") === "BOOK", "an entry is not booked")
  must(parts.text("BookgDt/Dt") === parts.text("ValDt/Dt"), "the booking and the value date differ")
  const number = parts.optional("NtryRef")
  const amount = parts.amount("", currency)
  must(amount !== 0n, "an entry's amount is zero")
  const id = parts.text("AcctSvcrRef")
  must(/^[0-9a-f]{32}$/.test(id), `${JSON.stringify(id)} is no entry's identifier`)
  must(parts.text("NtryDtls/TxDtls/Refs/AcctSvcrRef") === id, "the details are of another entry")
  must(parts.amount("NtryDtls/TxDtls/", currency) === amount, "the details have another amount")
  return {
    ...{ id, amount, currency, day: day(parts.text("BookgDt/Dt")) },
    journal: number === undefined ? null : journalOf(number, "detail"),
  }
}

interface Balance {
  readonly code: string
  readonly day: string
  readonly amount: bigint
}

/**
 * The state of reading: the parts of the current statement, those of the current balance or entry, and what has been completed.
 */
class OpenStatement {
  own = new Parts()
  inner = new Parts()
  readonly balances: Array<Balance> = []
  readonly entries: Array<ReadEntry> = []

  private get currency(): string {
    return this.own.text("Acct/Ccy")
  }

  take(path: string, element: Element): void {
    const [first = ""] = path.split("/", 1)
    if (first !== "Bal" && first !== "Ntry") this.own.add(path, element)
    else if (path === first) this.part(first)
    else this.inner.add(path.slice(first.length + 1), element)
  }

  private part(name: "Bal" | "Ntry"): void {
    const parts = this.inner
    this.inner = new Parts()
    if (name === "Ntry") this.entries.push(entryOf(parts, this.currency))
    else {
      const amount = parts.amount("", this.currency)
      this.balances.push({ code: parts.text("Tp/CdOrPrtry/Cd"), day: day(parts.text("Dt/Dt")), amount })
    }
  }

  finish(): ReadStatement {
    const { balances, currency, entries, own } = this
    const [opening, closing] = balances
    must(balances.map(({ code }) => code).join() === "OPBD,CLBD", "the balances are not OPBD and CLBD")
    if (opening === undefined || closing === undefined || opening.day !== closing.day) {
      must(false, "the balances are not of one day")
    }
    const stated = {
      entries: count(own.text("TxsSummry/TtlNtries/NbOfNtries")),
      credits: own.decimal("TxsSummry/TtlCdtNtries/Sum"),
      debits: own.decimal("TxsSummry/TtlDbtNtries/Sum"),
    }
    const sum = own.decimal("TxsSummry/TtlNtries/Sum")
    const net = own.directed("TxsSummry/TtlNtries/TtlNetNtry/")
    must(
      sum === stated.credits + stated.debits && net === stated.credits - stated.debits,
      "the sums differ among themselves",
    )
    const each =
      count(own.text("TxsSummry/TtlCdtNtries/NbOfNtries")) +
      count(own.text("TxsSummry/TtlDbtNtries/NbOfNtries"))
    must(each === stated.entries, "the numbers of entries differ among themselves")
    return {
      ...{ id: own.text("Id"), account: own.text("Acct/Id/Othr/Id"), currency, stated, entries },
      ...{ day: opening?.day ?? "", opening: opening?.amount ?? 0n, closing: closing?.amount ?? 0n },
    }
  }
}

export const camt053Reader: StatementReader = () => {
  let open = new OpenStatement()
  let finished: ReadStatement | undefined
  const xml = new XmlLines((element) => {
    const { attributes, path } = element
    if (path === "Document") must(attributes.get("xmlns") === namespace, `is not ${namespace}`)
    if (path === statement) {
      must(finished === undefined, "two statements end on one line")
      finished = open.finish()
      open = new OpenStatement()
    } else if (path.startsWith(`${statement}/`)) open.take(path.slice(statement.length + 1), element)
    else must(path === "Document" || path.startsWith(root.slice(0, -1)), `${path} is none of its elements`)
  })
  return {
    line: (text) => {
      finished = undefined
      xml.line(text)
      return finished
    },
    end: () => xml.end(),
  }
}
