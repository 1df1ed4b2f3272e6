/**
 * How a block of a kept file is compressed: each on its own, so that neither keeping nor giving back ever holds more than one of
 * them. By Brotli: at its lowest qualities it takes half of gzip's processor time for less space.
 */
import { promisify } from "node:util"
import {
  type BrotliOptions,
  brotliCompress,
  brotliCompressSync,
  brotliDecompress,
  constants,
  gunzip,
} from "node:zlib"

/**
 * Bytes of a file per block. The table takes up to 1 MiB, compressed. With blocks of half the size keeping took a third longer,
 * with blocks of twice the size an export held some 25 MB more.
 */
export const blockSize = 512 * 1024

/**
 * The logarithm of a window that holds a whole block. It is small for a small file, since its memory is allocated anew each
 * time.
 */
const windowOf = ({ length }: Buffer): number =>
  Math.max(constants.BROTLI_MIN_WINDOW_BITS, Math.ceil(Math.log2(length)))

const optionsFor = (block: Buffer): BrotliOptions => ({
  params: {
    [constants.BROTLI_PARAM_QUALITY]: 1,
    [constants.BROTLI_PARAM_LGWIN]: windowOf(block),
    [constants.BROTLI_PARAM_SIZE_HINT]: block.length,
  },
})

const brotli = promisify(brotliCompress)

/** On a thread of its own. */
export const compress = (block: Buffer): Promise<Buffer> => brotli(block, optionsFor(block))

/** The same at once, of a small block: a thread's part in it would take three times as long. */
export const compressSmall = (block: Buffer): Buffer => brotliCompressSync(block, optionsFor(block))

const fromBrotli = promisify(brotliDecompress)
const fromGzip = promisify(gunzip)

/**
 * With a window of at most 2^23 bytes no Brotli stream begins with the byte 0x1f, but gzip, in which batches were kept before,
 * does.
 */
export const expand = (content: Buffer): Promise<Buffer> =>
  content[0] === 0x1f ? fromGzip(content) : fromBrotli(content)
