/**
 * How much a ZIP archive holds once it is unpacked, as far as a bound: a small archive may hold gigabytes, and the sizes that it states
 * may be wrong. Each entry is unpacked and thrown away. Source: PKWARE APPNOTE 6.3, sections 4.3.7, 4.3.12, 4.3.14 and 4.3.16.
 */
import { promisify } from "node:util"
import { inflateRaw } from "node:zlib"

const unpack = promisify(inflateRaw)

const endSignature = 0x06054b50
const entrySignature = 0x02014b50
/** Bytes of the end record without its comment, of an entry's record and of its local header without their texts. */
const endLength = 22
const entryLength = 46
const localLength = 30
const longestComment = 0xffff
/** Where one of the end record's numbers is this, a second directory counts, as archives of more than 4 GiB have it. */
const elsewhere = { count: 0xffff, place: 0xffffffff }

interface Entry {
  readonly isPacked: boolean
  /** Its bytes as they stand in the archive. */
  readonly content: Buffer
}

const endOf = (archive: Buffer): number => {
  const least = Math.max(0, archive.length - endLength - longestComment)
  for (let at = archive.length - endLength; at >= least; at--) {
    if (archive.readUInt32LE(at) === endSignature) return at
  }
  throw new Error("it has no directory")
}

const entriesOf = (archive: Buffer): ReadonlyArray<Entry> => {
  const end = endOf(archive)
  const count = archive.readUInt16LE(end + 10)
  const entries: Array<Entry> = []
  let at = archive.readUInt32LE(end + 16)
  if (count === elsewhere.count || [archive.readUInt32LE(end + 12), at].includes(elsewhere.place))
    throw new Error("it has the directory of a far larger archive")
  for (let left = count; left > 0; left--) {
    if (archive.readUInt32LE(at) !== entrySignature) throw new Error("its directory is damaged")
    const packed = archive.readUInt32LE(at + 20)
    const local = archive.readUInt32LE(at + 42)
    const from = local + localLength + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28)
    entries.push({
      isPacked: archive.readUInt16LE(at + 10) !== 0,
      content: archive.subarray(from, from + packed),
    })
    at +=
      entryLength +
      archive.readUInt16LE(at + 28) +
      archive.readUInt16LE(at + 30) +
      archive.readUInt16LE(at + 32)
  }
  return entries
}

/** Whether all entries together are more than `most` bytes. Fails where the archive cannot be read. */
export const unpacksToMore = async (archive: Uint8Array, most: number): Promise<boolean> => {
  let left = most
  for (const { content, isPacked } of entriesOf(
    Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength),
  )) {
    const size = isPacked
      ? await unpack(content, { maxOutputLength: Math.max(1, left) }).then(
          ({ length }) => length,
          (error: unknown) => {
            const tooLarge =
              error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE"
            if (tooLarge) return Number.POSITIVE_INFINITY
            throw error
          },
        )
      : content.length
    left -= size
    if (left < 0) return true
  }
  return false
}
