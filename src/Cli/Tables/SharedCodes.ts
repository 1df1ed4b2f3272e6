/** What is said of bank accounts and wallets that are one account in a system. */
import { counted, harmless } from "../../Common/Text.ts"
import type { SharedCode } from "../../Export/Mapping/SharedCodes.ts"

const mostNamed = 3

/** `In xero_code 8 bank accounts and wallets are 1010: Assets:…` */
export const sharedText = ({ accounts, code }: SharedCode, where: string): string =>
  harmless(
    `${where} ${counted(accounts.length, "bank account or wallet is", "bank accounts and wallets are")} one account, ${code}: ${accounts.slice(0, mostNamed).join(", ")}${accounts.length > mostNamed ? " …" : ""}`,
  )

export const ownCodesAdvice = (format: string): string =>
  `No single statement can be compared with it. Codes of their own: tieout accounts export --for ${format}`
