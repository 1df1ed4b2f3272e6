/** `npm run build`: the bundle in `dist`, and in `dist/package` what is packed and installed, with a manifest of its own. */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { bundle, packagesIn, projectFolder } from "./bundle.ts"
import { billOf } from "./sbom.ts"

const dist = join(projectFolder, "dist")
const staged = join(dist, "package")

interface Manifest {
  readonly version: string
  readonly description: string
  readonly license: string
  readonly engines: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly optionalDependencies: Readonly<Record<string, string>>
}

const isManifest = (value: unknown): value is Manifest =>
  typeof value === "object" && value !== null && "optionalDependencies" in value && "engines" in value

const project: unknown = JSON.parse(readFileSync(join(projectFolder, "package.json"), "utf8"))
if (!isManifest(project)) throw new Error("package.json lacks engines or optionalDependencies")

rmSync(dist, { recursive: true, force: true })
mkdirSync(dist)
const metafile = await bundle(dist)

mkdirSync(join(staged, "bin"), { recursive: true })
mkdirSync(join(staged, "dist"))
for (const name of readdirSync(dist, { withFileTypes: true }).flatMap((one) =>
  one.isFile() ? one.name : [],
)) {
  cpSync(join(dist, name), join(staged, "dist", name))
}
cpSync(join(projectFolder, "bin", "tieout.js"), join(staged, "bin", "tieout.js"))
for (const name of ["drizzle", "config", "README.md"]) {
  cpSync(join(projectFolder, name), join(staged, name), {
    recursive: true,
    // Whoever packs has settings and credentials of their own beside the examples.
    filter: (path) => !/[\\/](?:tieout\.(?:yaml|env)|(?:postgres)?\.env)$/.test(path),
  })
}
const { dependencies, description, engines, license, optionalDependencies, version } = project
const queue = dependencies["pg-boss"]
if (queue === undefined) throw new Error("package.json lacks pg-boss")
const manifest = {
  name: "tieout",
  version,
  description,
  license,
  type: "module",
  bin: { tieout: "bin/tieout.js" },
  engines,
  // Left out by npm where Node is too old for it: there are no workers then.
  optionalDependencies: { ...optionalDependencies, "pg-boss": queue },
}
writeFileSync(join(staged, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`)
writeFileSync(
  join(staged, "sbom.cdx.json"),
  billOf({ project: projectFolder, packages: packagesIn(metafile), staged }),
)
