import { execFile } from "node:child_process"
import { symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const root = fileURLToPath(new URL("../..", import.meta.url))

const programs = ["commandHost.ts", "embeddedClient.ts", "syncProcess.ts", "webhookProcess.ts"]

/**
 * Compiles `src` and the programs of the tests into a folder, once for the run: a process is up four times sooner than
 * through tsx. Types are not checked here.
 */
export const compile = async (folder: string): Promise<void> => {
  const settings = {
    extends: join(root, "tsconfig.json"),
    compilerOptions: { noEmit: false, noCheck: true, rootDir: root, outDir: folder, types: [], plugins: [] },
    include: [join(root, "src"), ...programs.map((name) => join(root, "test", "support", name))],
  }
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(settings))
  await writeFile(join(folder, "package.json"), '{"type":"module","version":"9.8.7"}')
  await symlink(join(root, "node_modules"), join(folder, "node_modules"), "dir")
  for (const name of ["drizzle", "config"]) await symlink(join(root, name), join(folder, name), "dir")
  const compiler = join(root, "node_modules", "typescript", "bin", "tsc")
  await promisify(execFile)(process.execPath, [compiler, "-p", folder])
}
