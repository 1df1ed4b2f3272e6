/** Programs of other people with which tests open what Tieout wrote. */
import { spawnSync } from "node:child_process"
import { accessSync, constants } from "node:fs"
import { delimiter, join } from "node:path"
import { temporaryFolder } from "./TemporaryFolder.ts"

const isExecutable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Whether a program is on the path. Where it is not, a warning names what is not tested. */
export const isInstalled = (name: string, untested: string): boolean => {
  const folders = (process.env.PATH ?? "").split(delimiter)
  const found = folders.some((folder) => isExecutable(join(folder, name)))
  if (!found) console.warn(`${name} is not installed: ${untested}`)
  return found
}

/**
 * Converts files with LibreOffice, all in one run, into a new folder, and answers that folder. `input` is the import filter with
 * its options, such as `CSV:44,34,76,1,,1033`.
 */
export const convertWithLibreOffice = (
  files: ReadonlyArray<string>,
  { input, output }: { readonly input?: string; readonly output: string },
): string => {
  const folder = temporaryFolder()
  const { error, status, stderr } = spawnSync(
    "soffice",
    [
      ...["--headless", `-env:UserInstallation=file://${temporaryFolder()}`],
      ...(input === undefined ? [] : [`--infilter=${input}`]),
      ...["--convert-to", output, "--outdir", folder, ...files],
    ],
    { encoding: "utf8", timeout: 240_000 },
  )
  if (status !== 0) throw new Error(`soffice ended with ${status}: ${error ?? stderr}`)
  return folder
}

/** Opens a page in Chromium without a window. Answers what it printed. */
export const openInChromium = (page: string, args: ReadonlyArray<string>, milliseconds = 2_000) =>
  spawnSync(
    "chromium",
    [
      ...["--headless=new", "--no-sandbox", "--disable-gpu", `--user-data-dir=${temporaryFolder()}`],
      ...[`--virtual-time-budget=${milliseconds}`, ...args, `file://${page}`],
    ],
    { encoding: "utf8", timeout: 120_000, maxBuffer: 1 << 26 },
  )
