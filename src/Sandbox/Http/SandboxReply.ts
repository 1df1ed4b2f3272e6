/** An answer before it is sent. */
export interface Reply {
  readonly status: number
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

const none: Readonly<Record<string, string>> = {}

/** An answer with a rendered JSON body. */
export const json = (status: number, body: string, headers = none): Reply => ({ status, body, headers })

/** A JSON error answer: what kind, and what to do about it. */
export const failure = (status: number, error: string, message: string, headers = none): Reply =>
  json(status, JSON.stringify({ error, message }), headers)
