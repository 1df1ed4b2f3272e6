/** A secret in every form in which a server may send it back: as it is, as it was sent, within JSON or a URL, in base64. */
export const formsOf = (secret: string): ReadonlyArray<string> => {
  if (secret === "") return []
  const sent = new URLSearchParams([["", secret]]).toString().slice(1)
  const inUrl = encodeURIComponent(secret)
  const lowerCase = (text: string) => text.replace(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase())
  const base64 = Buffer.from(secret, "utf8").toString("base64")
  const forms = [
    secret,
    ...[sent, inUrl].flatMap((form) => [form, lowerCase(form)]),
    JSON.stringify(secret).slice(1, -1),
    base64,
    base64.replace(/=+$/, ""),
    Buffer.from(secret, "utf8").toString("base64url"),
  ]
  // The longest first: a shorter one may be a part of it.
  return [...new Set(forms)].sort((a, b) => b.length - a.length)
}
