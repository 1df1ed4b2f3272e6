/** Proves a batch's folder from its manifest: its place and chain, its arithmetic, and every file with its content. */
import { Problems } from "../Common/Problems.ts"
import { checkFiles } from "../Export/Batch/Manifest/WrittenFiles.ts"
import type { Manifest } from "../Export/Batch/Manifest.ts"
import { checkArithmetic, expectedAccounts } from "./AccountsProof.ts"
import { type ChainMemory, chainMemory, checkChain } from "./BatchChain.ts"
import { ContentProofs } from "./ContentProofs.ts"
import { checkPlace } from "./FolderPlace.ts"
import { checkManifest } from "./ManifestProof.ts"
import { plainTextsOf, startThreads } from "./PlainText/PlainTextThreads.ts"

export interface VerifyOptions {
  /** A batch of the chain that is missing beside the folder is a problem, not just a note. */
  readonly chain: boolean
  /** Of a run over several folders. */
  readonly memory?: ChainMemory
}

/** `text` is the manifest's text; `begun` is called with each file before its content is read. */
export const checkBatch = async (
  folder: string,
  manifest: Manifest,
  text: string,
  { chain, memory = chainMemory() }: VerifyOptions,
  problems: Problems,
  begun: (file: string) => void,
): Promise<void> => {
  checkPlace(folder, manifest, problems)
  await checkChain(folder, manifest, text, { memory, whole: chain }, problems)
  checkManifest(manifest, problems)
  const accounts = expectedAccounts(manifest)
  checkArithmetic(manifest, accounts, problems)
  // Reported after problems with the files themselves.
  const inside = new Problems()
  const proofs = new ContentProofs(folder, manifest, accounts, inside)
  const records = new Map(manifest.files.map((file) => [file.name, file]))
  const contents = new Map<string, Problems>()
  const threads = startThreads(plainTextsOf(folder, manifest, accounts))
  const read = await checkFiles(folder, manifest, problems, {
    contentOf: (name) => {
      begun(name)
      const record = records.get(name)
      const content = new Problems()
      contents.set(name, content)
      return record === undefined ? undefined : proofs.proofOf(record, content)
    },
    elsewhere: (name) =>
      threads.verdictOf(name)?.then((verdict) => {
        if (verdict !== undefined) contents.set(name, new Problems().absorb(verdict.content))
        return verdict
      }),
  }).finally(threads.end)
  for (const { name } of manifest.files) {
    const content = contents.get(name)
    if (content !== undefined) inside.absorb(content)
  }
  await proofs.finish(read, inside)
  problems.absorb(inside)
}
