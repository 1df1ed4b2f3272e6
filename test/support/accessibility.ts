/** The problems that axe-core finds on a page in a browser, light or dark. */
import { readFileSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { Either, Schema } from "effect"
import { isInstalled, openInChromium } from "./Installed.ts"
import { temporaryFolder } from "./TemporaryFolder.ts"

const axe = (): string | undefined => {
  try {
    return readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")
  } catch {
    return undefined
  }
}

const source = axe()

/** Whether pages can be looked at here. */
export const canLook = source !== undefined && isInstalled("chromium", "pages are not looked at by axe-core")

const Found = Schema.parseJson(
  Schema.Struct({
    passes: Schema.Array(Schema.Unknown),
    violations: Schema.Array(
      Schema.Struct({
        id: Schema.String,
        impact: Schema.String,
        nodes: Schema.Array(Schema.Struct({ html: Schema.String })),
      }),
    ),
  }),
)

/** Violations as `impact rule: element`, the serious and critical ones alone. */
export const seriousOn = (page: string, scheme: "light" | "dark"): ReadonlyArray<string> => {
  const file = join(temporaryFolder(), "page.html")
  // All details are opened, and the page's own policy is removed, which would block axe.
  const opened = page
    .replaceAll("<details", "<details open")
    .replace(/<meta http-equiv="Content-Security-Policy"[^>]*>/i, "")
  const script = `<script>${source?.replaceAll("</script", "<\\/script")}</script><script>axe.run(document).then((found) => {
    document.documentElement.innerHTML = "<body></body>"
    document.body.textContent = "FOUND" + btoa(unescape(encodeURIComponent(JSON.stringify({
      passes: found.passes.map(({ id }) => id),
      violations: found.violations.map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.map(({ html }) => ({ html })) })),
    })))) + "END"
  })</script>`
  writeFileSync(
    file,
    opened.replace("</body>", () => `${script}</body>`),
  )
  const preferred = `--blink-settings=preferredColorScheme=${scheme === "dark" ? 0 : 1}`
  const { stdout } = openInChromium(file, ["--dump-dom", preferred], 20_000)
  const [, encoded] = /FOUND([A-Za-z0-9+/=]+)END/.exec(stdout ?? "") ?? []
  if (encoded === undefined) throw new Error("axe-core gave no answer")
  const found = Either.getOrThrow(Schema.decodeEither(Found)(Buffer.from(encoded, "base64").toString("utf8")))
  if (found.passes.length < 5) throw new Error("axe-core looked at nothing")
  return found.violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, impact, nodes }) => nodes.map(({ html }) => `${impact} ${id}: ${html}`))
}
