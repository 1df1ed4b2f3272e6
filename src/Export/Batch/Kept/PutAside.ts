/**
 * The blocks of an export's files, compressed while the files are written, so that nothing is read again to keep them in the
 * database. They wait in one file for all of its folders, which loses its name at once: nothing is left of it, however the process
 * ends.
 */
import { type FileHandle, open, rm } from "node:fs/promises"
import { join } from "node:path"
import { blockSize, compress } from "./Compression.ts"

/** The file's name for the moment that it has one. */
export const asideFile = "blocks.partial"

/** Smaller files fill their block from here on, doubling it. */
const smallestBlock = 64 * 1024

/** Gives the compressed block of a file, counted from 1; undefined after the last. */
export type ReadBlock = (chunk: number) => Promise<Buffer | undefined>

export interface Blocks {
  /** The content may be used again once this is done. */
  readonly add: (content: Buffer) => Promise<void>
  readonly end: () => Promise<ReadBlock>
}

const readAll = async (handle: FileHandle, at: number, length: number): Promise<Buffer> => {
  const content = Buffer.allocUnsafe(length)
  for (let read = 0; read < length; ) {
    const { bytesRead } = await handle.read(content, read, length - read, at + read)
    if (bytesRead === 0) throw new Error("blocks that were put aside have become shorter")
    read += bytesRead
  }
  return content
}

export class PutAside {
  private handle: Promise<FileHandle> | undefined
  private end = 0

  private async opened(folder: string): Promise<FileHandle> {
    const path = join(folder, asideFile)
    const handle = await open(path, "wx+", 0o600)
    await rm(path)
    return handle
  }

  private async store(
    folder: string,
    content: Buffer,
  ): Promise<{ readonly at: number; readonly length: number }> {
    const { length } = content
    const at = this.end
    this.end += length
    this.handle ??= this.opened(folder)
    const handle = await this.handle
    for (let written = 0; written < length; )
      written += (await handle.write(content, written, length - written, at + written)).bytesWritten
    return { at, length }
  }

  /** The blocks of one file in a folder. One is compressed while the next is filled. */
  file(folder: string): Blocks {
    let block = Buffer.alloc(0)
    let filled = 0
    let before: Promise<unknown> = Promise.resolve()
    const places: Array<{ readonly at: number; readonly length: number }> = []
    const putAside = async (): Promise<void> => {
      await before
      const full = block.subarray(0, filled)
      block = Buffer.alloc(0)
      filled = 0
      before = compress(full)
        .then((content) => this.store(folder, content))
        .then((place) => places.push(place))
      // Whoever waits for it next sees why it failed.
      before.catch(() => undefined)
    }
    const grow = (wanted: number): void => {
      if (wanted <= block.length) return
      let length = Math.max(smallestBlock, block.length)
      while (length < wanted) length *= 2
      const larger = Buffer.allocUnsafe(Math.min(length, blockSize))
      block.copy(larger, 0, 0, filled)
      block = larger
    }
    return {
      add: async (content) => {
        for (let from = 0; from < content.length; ) {
          grow(Math.min(blockSize, filled + content.length - from))
          const copied = content.copy(block, filled, from)
          filled += copied
          from += copied
          if (filled === blockSize) await putAside()
        }
      },
      end: async () => {
        if (filled > 0) await putAside()
        await before
        return async (chunk) => {
          const place = places[chunk - 1]
          const handle = await this.handle
          return place === undefined || handle === undefined
            ? undefined
            : readAll(handle, place.at, place.length)
        }
      },
    }
  }

  async close(): Promise<void> {
    await (await this.handle)?.close()
  }
}
