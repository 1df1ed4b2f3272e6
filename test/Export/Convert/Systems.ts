/** Each accounting system's file read as that system documents it: header, positions, dates, signs. */
import { type Booked, cellsOf, exact, oneOf } from "./Csv.ts"

type Reader = (bytes: Buffer) => ReadonlyArray<Booked>

const asText = (bytes: Buffer): string => new TextDecoder("utf-8", { fatal: true }).decode(bytes)

const onlyAscii = (bytes: Buffer): string => {
  if (bytes.some((byte) => byte > 0x7e)) throw new Error("the file is not ASCII")
  return bytes.toString("latin1")
}

const isoOf = (text: string, order: RegExp): string => {
  const { day = "", month = "", year = "" } = order.exec(text)?.groups ?? {}
  if (day === "") throw new Error(`${text} is no date`)
  return `${year}-${month}-${day}`
}

const american = /^(?<month>\d{2})\/(?<day>\d{2})\/(?<year>\d{4})$/
const british = /^(?<day>\d{2})\/(?<month>\d{2})\/(?<year>\d{4})$/

const table = (text: string, header: string): ReadonlyArray<(name: string) => string> => {
  const [names = [], ...rows] = cellsOf(text, ",")
  if (names.join() !== header) throw new Error(`header ${names.join()}`)
  return rows.map((row) => {
    if (row.length !== names.length) throw new Error(`${row.length} cells: ${row.join()}`)
    return (name) => row[names.indexOf(name)] ?? ""
  })
}

const monthNames = "JanFebMarAprMayJunJulAugSepOctNovDec"

const xero: Reader = (bytes) =>
  table(
    onlyAscii(bytes),
    "*Narration,*Date,Description,*AccountCode,*TaxRate,*Amount,TrackingName1,TrackingOption1,TrackingName2,TrackingOption2",
  ).map((of) => {
    const [day = "", month = "", year = ""] = of("*Date").split(" ")
    const number = String(monthNames.indexOf(month) / 3 + 1).padStart(2, "0")
    if (of("*TaxRate") !== "Tax Exempt") throw new Error("another tax rate")
    return {
      journal: `${of("*Narration")} ${of("*Date")}`,
      date: `${year}-${number}-${day}`,
      account: of("*AccountCode"),
      amount: exact(of("*Amount")),
    }
  })

const qbo: Reader = (bytes) =>
  table(
    asText(bytes),
    "*JournalNo,*JournalDate,*AccountName,*Debits,*Credits,Description,Name,Currency,Location,Class",
  ).map((of) => {
    if (of("*JournalNo").length > 21) throw new Error(`${of("*JournalNo")} is too long`)
    return {
      journal: of("*JournalNo"),
      date: isoOf(of("*JournalDate"), american),
      account: of("*AccountName"),
      amount: oneOf(of("*Debits"), of("*Credits")),
    }
  })

const netsuite: Reader = (bytes) =>
  table(
    asText(bytes),
    "External ID,Date,Subsidiary,Currency,Exchange Rate,Memo,Account,Debit,Credit,Line Memo",
  ).map((of) => {
    for (const amount of [of("Debit"), of("Credit")]) {
      if (!/^(?:\d{1,10}\.\d{2})?$/.test(amount)) throw new Error(`${amount} is not 10+2 digits`)
    }
    return {
      journal: of("External ID"),
      date: isoOf(of("Date"), american),
      account: of("Account"),
      amount: oneOf(of("Debit"), of("Credit")),
    }
  })

const intacct: Reader = (bytes) => {
  let journal = ""
  let date = ""
  let line = 0
  return table(
    onlyAscii(bytes),
    "DONOTIMPORT,JOURNAL,DATE,DESCRIPTION,REFERENCE_NO,LINE_NO,ACCT_NO,LOCATION_ID,DEPT_ID,MEMO,DEBIT,CREDIT",
  ).map((of) => {
    if (of("LINE_NO") === "1") {
      journal = of("REFERENCE_NO")
      date = isoOf(of("DATE"), american)
      line = 0
    } else if (of("DATE") + of("REFERENCE_NO") + of("DESCRIPTION") + of("JOURNAL") !== "") {
      throw new Error("header fields on a line that is not the first")
    }
    line += 1
    if (of("LINE_NO") !== String(line)) throw new Error(`line ${of("LINE_NO")}, expected ${line}`)
    if (/,/.test(of("MEMO") + of("DESCRIPTION"))) throw new Error("a comma in a text")
    return { journal, date, account: of("ACCT_NO"), amount: oneOf(of("DEBIT"), of("CREDIT")) }
  })
}

const sage50: Reader = (bytes) =>
  cellsOf(onlyAscii(bytes), ",").map((row) => {
    const [type, reference, account = "", department, date = "", journal = "", , amount = "", code, tax] = row
    if (row.length !== 10 || reference !== "" || code !== "T9" || tax !== "0.00") throw new Error(row.join())
    if (type !== "JD" && type !== "JC") throw new Error(`type ${type}`)
    if (!/^\d+$/.test(department ?? "")) throw new Error(`department ${department}`)
    const size = exact(amount)
    return { journal, date: isoOf(date, british), account, amount: type === "JD" ? size : -size }
  })

const businessCentral: Reader = (bytes) =>
  table(
    asText(bytes),
    "Posting Date,Document No.,Account Type,Account No.,Description,Currency Code,Amount,External Document No.",
  ).map((of) => {
    if (of("Document No.").length > 20 || [...of("Description")].length > 50) throw new Error("too long")
    if (of("Account Type") !== "G/L Account") throw new Error(of("Account Type"))
    return {
      journal: of("Document No."),
      date: of("Posting Date"),
      account: of("Account No."),
      amount: exact(of("Amount")),
    }
  })

export const readers = {
  xero,
  qbo,
  netsuite,
  intacct,
  sage50,
  "business-central": businessCentral,
} as const satisfies Readonly<Record<string, Reader>>
