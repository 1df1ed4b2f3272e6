/** Bank statements by ISO 20022, camt.053.001.08: a file per account, a statement per day. */
import { createHash } from "node:crypto"
import { print } from "../../Common/MinorUnits.ts"
import { isUuidInAnyCase } from "../../Common/Uuid.ts"
import {
  type BankAccount,
  type BankDay,
  type BankEntry,
  type BankFile,
  type BankWriter,
  defineBankStatement,
} from "../BankStatement.ts"
import { oneLine } from "../OneLine.ts"
import { numbered } from "../Table/Amount.ts"
import { Unholdable } from "../Table/Journals.ts"
import { camt053Reader } from "./Camt053Reader.ts"

/** The most characters of an identifier, of a name, and of an entry's additional information. */
const idLength = 35
const nameLength = 140
const accountNameLength = 70
const textLength = 140
const noteLength = 500

const digits = 18
const decimals = 5

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" }

/** On one line, without characters that XML cannot hold. */
const clean = (text: string): string => oneLine(text).replace(/[\uFFFE\uFFFF]/g, "")
const escaped = (text: string): string => text.replace(/[&<>"]/g, (char) => escapes[char] ?? char)
const cut = (text: string, most: number): string => [...text].slice(0, most).join("").trim()

/** An element with text; nothing where the text is empty. */
const element = (name: string, text: string): string =>
  text === "" ? "" : `<${name}>${escaped(text)}</${name}>`

/** An element around others; nothing where there are none. */
const around = (name: string, ...inner: ReadonlyArray<string>): string => {
  const content = inner.join("")
  return content === "" ? "" : `<${name}>${content}</${name}>`
}

const compact = (id: string): string => id.replaceAll("-", "")

/** A reference, if a field of 35 characters holds all of it; half of one would be another reference. */
const reference = (text: string | null): string => {
  const plain = clean(text ?? "")
  const short = isUuidInAnyCase(plain) ? compact(plain) : plain
  return [...short].length <= idLength ? short : ""
}

const decimal = (minor: bigint, { currency, id, scale }: BankAccount): string => {
  const text = print(minor < 0n ? -minor : minor, scale)
  const [whole = "", fraction = ""] = text.split(".")
  const needed = fraction.replace(/0+$/, "")
  if (needed.length > decimals || whole.length + Math.max(fraction.length, needed.length) > digits) {
    throw new Unholdable(
      `${print(minor, scale)} ${currency} of account ${id} has more than ${digits} digits or ${decimals} decimals`,
    )
  }
  return text
}

/** The amount and its direction, as entries and balances have them. */
const amount = (minor: bigint, account: BankAccount): string =>
  `<Amt Ccy="${account.currency}">${decimal(minor, account)}</Amt>${element("CdtDbtInd", minor < 0n ? "DBIT" : "CRDT")}`

const balance = (code: "OPBD" | "CLBD", minor: bigint, day: string, account: BankAccount): string =>
  around(
    "Bal",
    around("Tp", around("CdOrPrtry", element("Cd", code))),
    amount(minor, account),
    around("Dt", element("Dt", day)),
  )

const summed = (name: string, entries: number, sum: bigint, account: BankAccount, net = ""): string =>
  around(name, element("NbOfNtries", String(entries)), element("Sum", decimal(sum, account)), net)

const summary = ({ closing, credits, debits, opening }: BankDay, account: BankAccount): string => {
  const net = closing - opening
  return around(
    "TxsSummry",
    summed(
      "TtlNtries",
      credits.entries + debits.entries,
      credits.sum + debits.sum,
      account,
      around(
        "TtlNetNtry",
        element("Amt", decimal(net, account)),
        element("CdtDbtInd", net < 0n ? "DBIT" : "CRDT"),
      ),
    ),
    summed("TtlCdtNtries", credits.entries, credits.sum, account),
    summed("TtlDbtNtries", debits.entries, debits.sum, account),
  )
}

/** From the external code list: a payment received or sent, an exchange of currencies, anything else. */
const transactionCode = ({ minor, resourceType }: BankEntry): string => {
  const payment = resourceType === "DEPOSIT" || resourceType === "WITHDRAWAL" || resourceType === "PAYOUT"
  const [domain, family] =
    resourceType === "CONVERSION"
      ? ["FORX", "SPOT"]
      : ["PMNT", payment ? (minor < 0n ? "ICDT" : "RCDT") : minor < 0n ? "MDOP" : "MCOP"]
  return around(
    "BkTxCd",
    around(
      "Domn",
      element("Cd", domain),
      around("Fmly", element("Cd", family), element("SubFmlyCd", "OTHR")),
    ),
    around("Prtry", element("Cd", cut(clean(resourceType ?? "NONE"), idLength)), element("Issr", "TIEOUT")),
  )
}

/** The whole text, split into as many elements as it takes. */
const unstructured = (text: string): string => {
  const chars = [...text]
  const parts = Array.from({ length: Math.ceil(chars.length / textLength) }, (_, at) =>
    chars.slice(at * textLength, (at + 1) * textLength).join(""),
  )
  return parts.map((part) => element("Ustrd", part)).join("")
}

const details = (entry: BankEntry, { account, personalData }: BankFile): string => {
  const { counterparty, externalReference, minor, resourceId, transactionHash } = entry
  const endToEnd = reference(externalReference)
  const personal = (text: string | null) => (personalData ? clean(text ?? "") : "")
  const texts = [
    personal(entry.reference),
    personal(entry.purpose),
    // References that are too long for a field of 35 characters.
    endToEnd === "" ? clean(externalReference ?? "") : "",
    clean(transactionHash ?? ""),
  ]
  const party = around("Pty", element("Nm", cut(personal(counterparty), nameLength)))
  return around(
    "NtryDtls",
    around(
      "TxDtls",
      around(
        "Refs",
        element("AcctSvcrRef", compact(entry.id)),
        element("EndToEndId", endToEnd),
        element("TxId", reference(resourceId)),
      ),
      amount(minor, account),
      around("RltdPties", party === "" ? "" : around(minor < 0n ? "Cdtr" : "Dbtr", party)),
      around("RmtInf", [...new Set(texts)].map(unstructured).join("")),
      around("RltdDts", element("TxDtTm", entry.occurredAt)),
    ),
  )
}

/** The day of the year is the number of a statement: banks number them so, and it fits the fields of old systems. */
const dayOfYear = (day: string): number =>
  (Date.parse(`${day}T00:00:00Z`) - Date.parse(`${day.slice(0, 4)}-01-01T00:00:00Z`)) / 86_400_000 + 1

const accountDigits = 16

/** At most 35 characters. */
const messageId = ({ account, batch }: BankFile): string =>
  `${compact(account.id).slice(0, accountDigits)}-${batch}`

/**
 * Made of the account, the day, and a digest of the day's balances, counts and sums: two statements with the same identifier have
 * the same content, whichever batches they are in. At most 35 characters.
 */
const statementId = ({ closing, credits, day, debits, opening }: BankDay, { account }: BankFile): string => {
  const figures = [opening, closing, credits.entries, credits.sum, debits.entries, debits.sum].join(" ")
  const digest = createHash("sha256").update(figures).digest("hex").slice(0, 8)
  return `${compact(account.id).slice(0, accountDigits)}-${day.replaceAll("-", "")}-${digest}`
}

const accountPart = ({ account: { currency, id, name, owner } }: BankFile): string =>
  around(
    "Acct",
    around("Id", around("Othr", element("Id", compact(id)))),
    element("Ccy", currency),
    element("Nm", cut(clean(name), accountNameLength)),
    around("Ownr", element("Nm", cut(clean(owner), nameLength))),
  )

const statementHead = (day: BankDay, file: BankFile): string => {
  const { account, createdAt } = file
  return [
    "<Stmt>",
    element("Id", statementId(day, file)),
    element("ElctrncSeqNb", String(dayOfYear(day.day))),
    element("CreDtTm", createdAt),
    around("FrToDt", element("FrDtTm", day.from), element("ToDtTm", day.to)),
    accountPart(file),
    balance("OPBD", day.opening, day.day, account),
    balance("CLBD", day.closing, day.day, account),
    summary(day, account),
    "\n",
  ].join("")
}

const entryPart = (entry: BankEntry, day: string, file: BankFile): string => {
  const { description, id, minor, number } = entry
  const date = element("Dt", day)
  return `${around(
    "Ntry",
    element("NtryRef", number === null ? "" : numbered(number, idLength, false)),
    amount(minor, file.account),
    around("Sts", element("Cd", "BOOK")),
    around("BookgDt", date),
    around("ValDt", date),
    element("AcctSvcrRef", compact(id)),
    transactionCode(entry),
    details(entry, file),
    element("AddtlNtryInf", cut(clean(description ?? ""), noteLength)),
  )}\n`
}

const open = (file: BankFile): BankWriter => {
  let current = ""
  return {
    begin: [
      '<?xml version="1.0" encoding="UTF-8"?>\n',
      '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt>',
      around("GrpHdr", element("MsgId", messageId(file)), element("CreDtTm", file.createdAt)),
      "\n",
    ].join(""),
    day: (day) => {
      current = day.day
      return statementHead(day, file)
    },
    entry: (entry) => entryPart(entry, current, file),
    dayEnd: "</Stmt>\n",
    end: "</BkToCstmrStmt></Document>\n",
  }
}

export const camt053 = defineBankStatement({
  name: "camt.053",
  description: "bank statements by ISO 20022, an account a file, a day a statement; not with --since-last",
  file: "camt.053-{currency}-{account}.xml",
  decimals,
  open,
  reader: camt053Reader,
})
