/** Recognizes input of other forms than JSON Lines by its first bytes, so that a message can name the conversion. */

/** A form of input that cannot be imported as it is. */
export interface InputForm {
  /** The form, as the end of a sentence that begins with "it is". */
  readonly name: string
  /** The command that converts a file to JSON Lines; the name of the file follows. */
  readonly command: string
}

/** Returns the form of input that begins with `bytes`; `undefined` for JSON Lines and for unknown forms. */
export const find = (bytes: Uint8Array): InputForm | undefined => {
  const binary = signatures.find(([signature]) => signature.every((byte, index) => bytes[index] === byte))
  return binary === undefined ? textForm(textOf(bytes)) : binary[1]
}

const utf16: InputForm = { name: "UTF-16", command: "iconv -f UTF-16 -t UTF-8" }
const utf16le: InputForm = { name: "UTF-16", command: "iconv -f UTF-16LE -t UTF-8" }
const utf16be: InputForm = { name: "UTF-16", command: "iconv -f UTF-16BE -t UTF-8" }
const utf32: InputForm = { name: "UTF-32", command: "iconv -f UTF-32 -t UTF-8" }

const OPEN = 0x7b
const LIST = 0x5b

/** The first bytes of each form; longer ones first, if one begins with another. */
const signatures: ReadonlyArray<readonly [bytes: ReadonlyArray<number>, form: InputForm]> = [
  [[0xff, 0xfe, 0, 0], utf32],
  [[0, 0, 0xfe, 0xff], utf32],
  [[0xff, 0xfe], utf16],
  [[0xfe, 0xff], utf16],
  [[OPEN, 0], utf16le],
  [[LIST, 0], utf16le],
  [[0, OPEN], utf16be],
  [[0, LIST], utf16be],
  [[0x1f, 0x8b], { name: "compressed with gzip", command: "gunzip -c" }],
  [[0x50, 0x4b, 3, 4], { name: "a zip archive", command: "unzip -p" }],
  [[0x28, 0xb5, 0x2f, 0xfd], { name: "compressed with zstd", command: "zstd -dc" }],
  [[0xfd, 0x37, 0x7a, 0x58, 0x5a, 0], { name: "compressed with xz", command: "xz -dc" }],
  [[0x42, 0x5a, 0x68], { name: "compressed with bzip2", command: "bzip2 -dc" }]
]

/** Number of bytes from which the form of a text is recognized. */
const HEAD = 1_000

/** Returns the head of the text, one character for each byte, without a byte order mark. */
const textOf = (bytes: Uint8Array): string =>
  String.fromCharCode(...bytes.subarray(0, HEAD)).replace(/^\xef\xbb\xbf/, "")

const textForm = (text: string): InputForm | undefined => {
  if (/^\s*\[\s*\{/.test(text)) return { name: "one JSON array", command: "jq -c '.[]'" }
  // A line that is followed by another object is an animal, even one that begins with an array.
  if (/^\s*\{.*\}[ \t]*\r?\n\s*\{/.test(text)) return undefined
  const [isDatabase, member = ""] = /^\s*\{\s*"([^"]*)"\s*:\s*\[/.exec(text) ?? []
  if (isDatabase !== undefined) {
    const path = /^[A-Za-z_]\w*$/.test(member) ? `.${member}[]` : ".[][]"
    return { name: "one JSON object with arrays", command: `jq -c '${path}'` }
  }
  if (/^\s*\{[ \t]*\r?\n/.test(text))
    return { name: "JSON with several lines for each animal", command: "jq -c ." }
  return csvForm(text)
}

/** Recognizes a table by a header with a column for the name. */
const csvForm = (text: string): InputForm | undefined => {
  const [header = ""] = text.split(/\r?\n/, 1)
  const table = separators.find(([separator]) =>
    header.split(separator).some((column, _, all) => all.length > 1 && /^\s*"?name"?\s*$/i.test(column))
  )
  return table === undefined ? undefined : { name: "CSV", command: `mlr ${table[1]} --ojsonl cat` }
}

/** The separators of a table, and the options of Miller for each. */
const separators: ReadonlyArray<readonly [separator: string, options: string]> = [
  [",", "--icsv"],
  [";", "--icsv --ifs ';'"],
  ["\t", "--itsv"]
]
