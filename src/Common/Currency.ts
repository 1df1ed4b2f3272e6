/**
 * Currencies and their minor units. Source: ISO 4217 (list one, active codes); `USDT` and `USDC` from
 * `docs/interface.md`, which allows them up to 8 decimals.
 */

const byMinorUnits: ReadonlyArray<readonly [scale: number, codes: string]> = [
  [0, "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"],
  [
    2,
    "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XAD XCD XCG YER ZAR ZMW ZWG",
  ],
  [3, "BHD IQD JOD KWD LYD OMR TND"],
  [4, "CLF UYW"],
  [8, "USDC USDT"],
]

const scales: ReadonlyMap<string, number> = new Map(
  byMinorUnits.flatMap(([scale, codes]) => codes.split(" ").map((code): [string, number] => [code, scale])),
)

/** The number of decimals of a currency, or undefined where the code is not known. Codes are upper case. */
export const scaleOf = (currency: string): number | undefined => scales.get(currency)

export const isKnown = (currency: string): boolean => scales.has(currency)

/** Every known code with its scale, for the database's own copy of this table. */
export const currencyScales: ReadonlyArray<readonly [code: string, scale: number]> = [...scales].sort(
  ([a], [b]) => (a < b ? -1 : 1),
)
