/** The check of one plain-text journal with nothing but what is sent: the same on every thread. */
import { Problems } from "../../Common/Problems.ts"
import { checkFile, type FileVerdict, type Stated } from "../../Export/Batch/Manifest/FileCheck.ts"
import { checkPlainText, type PlainText } from "./PlainTextProof.ts"

export interface PlainTextFile {
  readonly folder: string
  readonly file: Stated & { readonly rows: number }
  readonly plain: PlainText
}

export interface PlainTextVerdict extends FileVerdict {
  /** Of what the file says. */
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
