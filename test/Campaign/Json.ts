/** JSON of the service, as the campaign's own code reads it. */
export type Json = Record<string, unknown>

export const isJson = (value: unknown): value is Json => typeof value === "object" && value !== null

export const textAt = (json: Readonly<Json>, key: string): string => String(json[key])
