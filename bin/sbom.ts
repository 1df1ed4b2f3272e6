/**
 * The bill of materials of what is installed, as CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/): the packages whose code the
 * bundler put into the bundles, with the hashes that `npm ci` checked them by; the optional ones beside it, and the Postgres in
 * them; and each file of the staged package. Without a time or a random number: equal sources make equal bills.
 */
import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

type Json = Readonly<Record<string, unknown>>

const isJson = (value: unknown): value is Json => typeof value === "object" && value !== null

const read = (path: string): Json => {
  const value: unknown = JSON.parse(readFileSync(path, "utf8"))
  if (!isJson(value)) throw new Error(`${path} is no JSON object`)
  return value
}

const text = (value: Json, name: string): string => {
  const found = value[name]
  return typeof found === "string" ? found : ""
}

/** A scope's `@` is percent-encoded (https://github.com/package-url/purl-spec). */
const purlOf = (name: string, version: string): string =>
  `pkg:npm/${name.replace(/^@/, "%40")}@${encodeURIComponent(version)}`

/** Of an `integrity` such as `sha512-…` (https://www.w3.org/TR/SRI/). */
const hashesOf = (integrity: string) =>
  integrity.startsWith("sha512-")
    ? { hashes: [{ alg: "SHA-512", content: Buffer.from(integrity.slice(7), "base64").toString("hex") }] }
    : {}

const licencesOf = (licence: string) =>
  licence === "" || licence === "UNLICENSED"
    ? {}
    : { licenses: [/[ ()]/.test(licence) ? { expression: licence } : { license: { id: licence } }] }

const component = (name: string, version: string, licence: string, integrity: string) => ({
  type: "library",
  "bom-ref": purlOf(name, version),
  name,
  version,
  ...licencesOf(licence),
  ...hashesOf(integrity),
  purl: purlOf(name, version),
})

/** The files of a folder, from it, in order. */
const filesOf = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(folder.length + 1)
        .replaceAll("\\", "/"),
    )
    .sort()

export interface Materials {
  readonly project: string
  /** The packages' folders, from the project's. */
  readonly packages: ReadonlyArray<string>
  /** The staged package: its manifest names what is optional. */
  readonly staged: string
}

/** The bill as JSON, two spaces deep. */
export const billOf = ({ packages, project, staged }: Materials): string => {
  const locked = read(join(project, "package-lock.json")).packages
  const lockOf = (folder: string): Json => {
    // The folder of packages may be a link to another project's.
    const found = isJson(locked) ? locked[folder.slice(folder.indexOf("node_modules/"))] : undefined
    if (!isJson(found)) throw new Error(`package-lock.json lacks ${folder}`)
    return found
  }
  const own = read(join(staged, "package.json"))
  const [name, version] = [text(own, "name"), text(own, "version")]
  const bundled = packages.map((folder) => {
    const found = read(join(project, folder, "package.json"))
    return component(
      text(found, "name"),
      text(found, "version"),
      text(found, "license"),
      text(lockOf(folder), "integrity"),
    )
  })
  const optional = isJson(own.optionalDependencies) ? own.optionalDependencies : {}
  const beside = Object.keys(optional).map((wanted) => {
    const found = lockOf(`node_modules/${wanted}`)
    return {
      ...component(wanted, text(found, "version"), text(found, "license"), text(found, "integrity")),
      scope: "optional",
    }
  })
  const servers = [
    ...new Set(beside.map((one) => /^(\d+)\.(\d+)/.exec(one.version)?.slice(1).join(".") ?? "")),
  ]
  const postgres = servers.map((server) => ({
    type: "application",
    "bom-ref": `pkg:generic/postgresql@${server}`,
    ...{ name: "postgresql", version: server, scope: "optional" },
    ...licencesOf("PostgreSQL"),
    purl: `pkg:generic/postgresql@${server}`,
  }))
  const files = filesOf(staged).map((path) => ({
    type: "file",
    "bom-ref": `file:${path}`,
    name: path,
    hashes: [
      {
        alg: "SHA-256",
        content: createHash("sha256")
          .update(readFileSync(join(staged, path)))
          .digest("hex"),
      },
    ],
  }))
  const reference = purlOf(name, version)
  const libraries = [...bundled, ...beside]
  const bill = {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    ...{ bomFormat: "CycloneDX", specVersion: "1.6", version: 1 },
    metadata: {
      component: { type: "application", "bom-ref": reference, name, version, purl: reference },
    },
    components: [...libraries, ...postgres, ...files],
    dependencies: [
      { ref: reference, dependsOn: libraries.map((one) => one["bom-ref"]) },
      ...beside.map((one) => ({
        ref: one["bom-ref"],
        dependsOn: postgres.map((server) => server["bom-ref"]),
      })),
    ],
  }
  return `${JSON.stringify(bill, null, 2)}\n`
}
