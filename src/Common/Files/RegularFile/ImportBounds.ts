/**
 * How much is read of a file that a person or a setting names, for each kind of file. The size is checked before the file is read, and
 * the number of values before rows or objects are made of them: a few bytes of text take a hundred times as many in memory.
 */

const mib = 1024 * 1024

/** Bytes of a CSV file that a person imports; the ECB's whole history has three million. */
export const largestImport = 64 * mib

/** Lines of an import, line breaks within cells and empty lines among them. */
export const mostLines = 1_000_000

/** Cells of an import, counted by the separators in it: a mapping of 500,000 accounts. */
export const mostCells = 8_000_000

/** Cells of a row: ours have 15, the ECB's 42. */
export const mostColumns = 256

/** Bytes of a row's cells, without separators. */
export const longestRow = 64 * 1024

/** Rows of another length than the header, after which the file is read no further. */
export const mostUneven = 1_000

/** Bytes of a workbook as it stands and of all its parts: the library unpacks up to two gigabytes. */
export const largestWorkbook = 4 * mib
export const largestUnpacked = 48 * mib

/** Rows of a workbook's sheet. */
export const mostSheetRows = 50_000

/** Bytes. A manifest names every account and file of a batch: ten thousand clients' accounts fit many times over. */
export const largestManifest = 256 * mib

/** Objects, lists and values of a manifest: an account has some twenty. */
export const mostManifestValues = 4_000_000

/** Bytes of the settings; every key with its default and a comment has 40,000. */
export const largestSettings = 4 * mib

/** Lines and marks of YAML in the settings, comments' too: each may become a value, and a value takes a kilobyte of memory. */
export const mostSettings = 100_000

/** Bytes; no secret is longer. */
export const largestSecret = 64 * 1024

/** Bytes of certificates; a bundle of all public authorities has 200,000. */
export const largestCertificate = 4 * mib

/** Bytes of a captured delivery, or of a file of public keys. */
export const largestCapture = mib
