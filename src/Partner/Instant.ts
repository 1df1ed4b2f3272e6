/** A point in time as the service said it, normalized to UTC with at most six decimals: `2026-10-01T12:00:00.123456Z`. */
export type Instant = string
