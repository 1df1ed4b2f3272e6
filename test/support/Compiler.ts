import { execFile } from "node:child_process"
import { mkdir, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { build } from "esbuild"

const root = fileURLToPath(new URL("../..", import.meta.url))

/**
 * Makes a program one file, of which a process has an eighth of the work to begin. The file is to lie as deep as the
 * sources that read what is beside them.
 */
export const bundle = async (source: string, file: string): Promise<void> => {
  await build({
    entryPoints: [source],
    outfile: file,
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "error",
    // Packages in the older form of modules ask for this.
    banner: {
      js: 'import { createRequire as requiring } from "node:module"; const require = requiring(import.meta.url)',
    },
  })
}

const programs = ["embeddedClient", "syncProcess", "webhookProcess"]

/**
 * Compiles `src` into a new folder, once for the run, as it is published, and the programs of the tests. A process is up
 * several times sooner than through tsx. Types are not checked here.
 */
export const compile = async (folder: string): Promise<void> => {
  const settings = {
    extends: join(root, "tsconfig.json"),
    compilerOptions: { noEmit: false, noCheck: true, rootDir: root, outDir: folder, types: [], plugins: [] },
    include: [join(root, "src"), join(root, "test", "support", "commandHost.ts")],
  }
  await mkdir(folder)
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(settings))
  await writeFile(join(folder, "package.json"), '{"type":"module","version":"9.8.7"}')
  await symlink(join(root, "node_modules"), join(folder, "node_modules"), "dir")
  for (const name of ["drizzle", "config"]) await symlink(join(root, name), join(folder, name), "dir")
  const compiler = join(root, "node_modules", "typescript", "bin", "tsc")
  await promisify(execFile)(process.execPath, [compiler, "-p", folder])
  for (const name of programs)
    await bundle(join(root, "test/support", `${name}.ts`), join(folder, "test/support", `${name}.js`))
}
