/** What a bank statement says of an entry: its direction, its code, the other party, and which amounts it can hold. */
import { describe, expect, it } from "vitest"
import type { BankAccount, BankEntry, BankFile } from "../../src/Format/BankStatement.ts"
import { camt053 } from "../../src/Format/Camt053/Camt053.ts"
import { Unholdable } from "../../src/Format/Table/Journals.ts"

const account: BankAccount = {
  ...{ id: "0f8fad5b-d9cb-469f-a165-000000000001", currency: "USD", scale: 2, name: "Cash", owner: "Acme" },
}
const entry: BankEntry = {
  ...{ id: "0f8fad5b-d9cb-469f-a165-000000000002", minor: 100n, occurredAt: "2026-10-05T09:30:00.000000Z" },
  ...{ number: null, description: null, resourceType: "DEPOSIT", resourceId: null, externalReference: null },
  ...{ counterparty: "Jo", reference: "rent", purpose: "flat 7", transactionHash: null },
}
const written = (
  of: Partial<BankEntry>,
  own: Partial<BankAccount> = {},
  more: Partial<BankFile> = {},
): string =>
  camt053
    .open({
      account: { ...account, ...own },
      batch: 1,
      createdAt: entry.occurredAt,
      personalData: true,
      ...more,
    })
    .entry({ ...entry, ...of })

describe("an entry of a bank statement", () => {
  it.each([
    ["DEPOSIT", 100n, "CRDT", "RCDT", "Dbtr"],
    ["DEPOSIT", -100n, "DBIT", "ICDT", "Cdtr"],
    ["WITHDRAWAL", -100n, "DBIT", "ICDT", "Cdtr"],
    ["PAYOUT", -100n, "DBIT", "ICDT", "Cdtr"],
    ["CONVERSION", -100n, "DBIT", "SPOT", "Cdtr"],
    [null, -100n, "DBIT", "MDOP", "Cdtr"],
    [null, 100n, "CRDT", "MCOP", "Dbtr"],
  ] as const)(
    "of a %s of %s says %s, %s, and that the other one is the %s",
    (resourceType, minor, side, code, party) => {
      const text = written({ resourceType, minor })
      expect(text).toContain(`<Amt Ccy="USD">1.00</Amt><CdtDbtInd>${side}</CdtDbtInd>`)
      expect(text).toContain(`<Fmly><Cd>${code}</Cd>`)
      expect(text).toContain(`<RltdPties><${party}><Pty><Nm>Jo</Nm></Pty></${party}></RltdPties>`)
    },
  )

  it("has no names and free texts where it is to have none", () => {
    expect(written({})).toContain("<Ustrd>rent</Ustrd><Ustrd>flat 7</Ustrd>")
    expect(written({}, {}, { personalData: false })).not.toMatch(/Jo|rent|flat|RltdPties|RmtInf/)
  })

  it("has five decimals and eighteen digits at most, and is refused where it needs more", () => {
    const usdt = { currency: "USDT", scale: 8 }
    expect(written({ minor: 123_456_000n }, usdt)).toContain(">1.23456000</Amt>")
    expect(() => written({ minor: 123_456_700n }, usdt)).toThrow(Unholdable)
    expect(written({ minor: 10n ** 18n - 1n })).toContain(">9999999999999999.99</Amt>")
    expect(() => written({ minor: 10n ** 18n })).toThrow(Unholdable)
  })
})
