/** Whether a batch's folder still holds what was written there, byte for byte. */
import { join } from "node:path"
import { Effect } from "effect"
import { readManifestFile } from "../../../Common/Files/RegularFile.ts"
import { type Problem, Problems } from "../../../Common/Problems.ts"
import { attempt } from "../FileAttempt.ts"
import { listFolder } from "../Folder.ts"
import { checkFiles } from "../Manifest/WrittenFiles.ts"
import { manifestFile } from "../Manifest.ts"
import type { KnownBatch } from "./KnownBatch.ts"

const problemText = ({ file, message }: Problem): string => `${file} ${message}`

/** What has changed since it was written, in words; empty if nothing has. */
export const folderProblems = Effect.fn("Export.folderProblems")(function* (
  folder: string,
  { manifest, text }: KnownBatch,
) {
  const names = yield* listFolder(folder)
  if (names.length === 0)
    return ["the folder is not there; --exports names the folder that the exports stand in"]
  const problems = new Problems()
  yield* attempt(folder, async () => {
    const found = names.includes(manifestFile)
      ? await readManifestFile(join(folder, manifestFile))
      : undefined
    if (found === undefined) problems.add(manifestFile, null, "is missing")
    else if (!found.equals(Buffer.from(text, "utf8")))
      problems.add(manifestFile, null, "has changed since it was written")
    await checkFiles(folder, manifest, problems)
  })
  return problems.found.map(problemText)
})
