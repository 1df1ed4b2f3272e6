/** Checks one plain-text journal from the data that it is sent, on any thread. */
import { Problems } from "../../Common/Problems.ts"
import { checkFile, type FileVerdict, type Stated } from "../../Export/Batch/Manifest/FileCheck.ts"
import { checkPlainText, type PlainText } from "./PlainTextProof.ts"

export interface PlainTextFile {
  readonly folder: string
  readonly file: Stated & { readonly rows: number }
  readonly plain: PlainText
}

export interface PlainTextVerdict extends FileVerdict {
  /** The problems of the file. */
  readonly content: FileVerdict["problems"]
}

export const checkPlainTextFile = async ({
  file,
  folder,
  plain,
}: PlainTextFile): Promise<PlainTextVerdict> => {
  const content = new Problems()
  const verdict = await checkFile(folder, file, (chunks) => checkPlainText(chunks, file, plain, content))
  return { ...verdict, content }
}
