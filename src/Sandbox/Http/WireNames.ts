import { defaultWire, renamed, type Wire } from "./Wire.ts"

/** Ready-made wires: the names that the connector takes for granted, and a service that chose other ones everywhere. */
const wires: ReadonlyMap<string, Wire> = new Map([
  ["plain", defaultWire],
  [
    "odd",
    renamed(defaultWire, {
      cursorParam: "cursor",
      sizeParam: "limit",
      itemsField: "data.rows",
      pageInfoField: "meta.page",
      amountField: "value",
      currencyField: "ccy",
      paths: {
        statement: "/accounts/{accountId}/transactions",
        destinations: "/address-book",
        receivables: "/credit/receivables",
        creditAccounts: "/credit/accounts",
      },
    }),
  ],
])

export const wireNames = [...wires.keys()]

/** The wire with that name, or what its name should have been. */
export const wireNamed = (name: string): Wire | string =>
  wires.get(name) ?? `found ${JSON.stringify(name)}, expected ${wireNames.join(" or ")}`
