import type { NonEmpty } from "./Random.ts"

/** Senders as banks and networks report them: ordinary ones, and ones that break careless readers and writers of files. */
export const remitters: NonEmpty<string> = [
  "Acme Trading Ltd",
  "Brightwater Logistics GmbH",
  "Société Générale d'Import-Export",
  "Ångström & Söhne AB",
  "株式会社山田商事",
  "北京贸易有限公司",
  "شركة الخليج للتجارة",
  "חברת הסחר בע״מ",
  'O\'Neil "Fast" Freight, Inc.',
  '=HYPERLINK("http://example.test","Click")',
  "+44 Holdings",
  "-Minus Partners",
  "@home Services",
  "Line one\nLine two",
  "Carriage\r\nReturn Co",
  "Tab\tSeparated\tCompany",
  "\u202eRight to left override Ltd\u202c",
  "Zoë 🚀 Rockets",
  "e\u0301crit en deux signes",
  "semi;colon|pipe,comma",
  "back\\slash \\n Ltd",
  "<b>Bold</b> & Sons",
  "  padded name  ",
  "'; drop table deposits; --",
  `The ${"very ".repeat(60)}long Company Name`,
  "A",
  "Müller KG",
  "Kowalski Sp. z o.o.",
  "Nguyễn Văn Á",
  "ООО «Ромашка»",
  "ΑΛΦΑ ΕΠΕ",
  "1234567890",
]

/** Texts for the recipient of a withdrawal. */
export const references: NonEmpty<string> = [
  "Invoice",
  "Payroll",
  "Supplier settlement",
  "Rent, office",
  "=1+1",
  'Order "urgent"',
  "Überweisung für März",
  "支払い",
  "دفعة",
  "two\nlines",
  "Refund; partial",
  "Treasury sweep",
]

/** External references; the last one has the greatest length allowed (255). */
export const externalReferences: NonEmpty<string> = [
  "ERP",
  "erp/2026",
  "=SUM(A1:A9)",
  "ref with, comma",
  'ref "quoted"',
  "réf-é",
  "line\nbreak",
  "x".repeat(246),
]

/** Reasons that end a deposit. */
export const depositReasons: NonEmpty<string> = [
  "SENDER_SCREENING_FAILED",
  "UNKNOWN_SENDER",
  "COMPLIANCE_REVIEW_FAILED",
]

/** Reasons that end a withdrawal. */
export const withdrawalReasons: NonEmpty<string> = [
  "INSUFFICIENT_BENEFICIARY_DETAILS",
  "BENEFICIARY_ACCOUNT_CLOSED",
  "RETURNED_BY_BENEFICIARY_BANK",
  "INSUFFICIENT_FUNDS",
]

/** Reasons that end a conversion. */
export const conversionReasons: NonEmpty<string> = [
  "RATE_EXPIRED",
  "LIQUIDITY_UNAVAILABLE",
  "CANCELED_BY_OPERATIONS",
]

/** Banks of the address book: name, BIC, country, city. */
export const addressBookBanks: NonEmpty<readonly [name: string, bic: string, country: string, city: string]> =
  [
    ["First Harbor Bank, N.A.", "FHBKUS33", "US", "New York"],
    ["Nordsee Handelsbank AG", "NOHADEFF", "DE", "Frankfurt am Main"],
    ["Thames & Severn Bank plc", "THSEGB2L", "GB", "London"],
    ["東京湾銀行", "TOBAJPJT", "JP", "東京"],
    ["Banque du Léman S.A.", "BLEMCHGG", "CH", "Genève"],
  ]

/** First parts of clients' registered names. */
export const legalNames: NonEmpty<string> = [
  "Alder",
  "Bösch & Partner",
  "Crème de la Mer",
  "Delta-Fünf",
  "Ēriks",
  "Fjord",
  "Gómez Hermanos",
  "Hồng Hà",
  "İstanbul Tekstil",
  "Jäger's",
  "Kestrel, Wren",
  "Łódź Import",
]

/** Legal forms at the end of clients' registered names. */
export const legalForms: NonEmpty<string> = ["Ltd", "GmbH", "S.A.", "AG", "Sp. z o.o.", "K.K.", "B.V.", "LLC"]

/** Clients' legal addresses; the district is a two-letter code where the country is US or CA. */
export const legalAddresses: NonEmpty<Readonly<Record<string, string>>> = [
  { address: "1 Harbor Plaza", city: "New York", district: "NY", postalCode: "10004", country: "US" },
  {
    address: "Kaiserstraße 12",
    addressExtended: "3. OG, Tür 7",
    city: "Wien",
    postalCode: "1070",
    country: "AT",
  },
  { address: "99 Rue de l'Église", city: "Montréal", district: "QC", postalCode: "H2Y 1A1", country: "CA" },
  { address: "銀座4-5-6", city: "東京", district: "東京都", postalCode: "104-0061", country: "JP" },
  { address: 'Flat 2, "The Mews"', city: "London", postalCode: "SW1A 2AA", country: "GB" },
]
