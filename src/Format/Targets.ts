/** The columns of an account mapping, one per accounting system, and what each system takes as an account. */

export interface Target {
  readonly pattern: RegExp
  readonly expects: string
  /** What an account is called while the mapping says nothing. */
  readonly fallback: "code" | "name"
}

const code = (pattern: RegExp, expects: string): Target => ({ pattern, expects, fallback: "code" })

export const targets = {
  xero_code: code(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,9}$/,
    "a code of at most 10 letters, digits, dots and dashes",
  ),
  qbo_name: {
    pattern: /^(?![=+\-@'])[^\s:"\p{Cc}][^:"\p{Cc}]{0,99}(?::[^\s:"\p{Cc}][^:"\p{Cc}]{0,99})*$/u,
    expects: "a name such as Partner:USD, each part at most 100 characters without quotes",
    fallback: "name",
  },
  netsuite_id: code(
    /^[A-Za-z0-9][A-Za-z0-9._ -]{0,59}$/,
    "an account number of at most 60 letters and digits",
  ),
  intacct_account: code(
    /^[A-Za-z0-9][A-Za-z0-9.-]{0,23}$/,
    "a number of at most 24 letters, digits and dashes",
  ),
  sage50_code: code(/^\d{1,8}$/, "a nominal code of at most 8 digits"),
  bc_account: code(/^[A-Za-z0-9][A-Za-z0-9._-]{0,19}$/, "a number of at most 20 letters, digits and dashes"),
  datev_konto: code(/^(?=.*[1-9])\d{3,9}$/, "an account number of 3 to 9 digits"),
  dimension: code(
    /^[A-Za-z0-9][A-Za-z0-9 ._-]{0,35}$/,
    "at most 36 letters, digits, spaces, dots and dashes",
  ),
} as const satisfies Readonly<Record<string, Target>>

export type TargetColumn = keyof typeof targets

export const targetColumns = [
  "xero_code",
  "qbo_name",
  "netsuite_id",
  "intacct_account",
  "sage50_code",
  "bc_account",
  "datev_konto",
  "dimension",
] as const satisfies ReadonlyArray<TargetColumn>
