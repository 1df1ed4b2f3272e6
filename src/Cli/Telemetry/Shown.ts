/** Attributes that may leave the process. Whatever else a library or we ourselves note on a span or a line stays here. */
const shown: ReadonlySet<string> = new Set(["connection", "run"])

export const isShown = (name: string): boolean => shown.has(name)
