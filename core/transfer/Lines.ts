/**
 * Splits bytes into lines, in bounded memory. A line ends with LF or CRLF; the last line may have no line ending. A
 * byte order mark at the beginning of the file is skipped.
 */

/** Maximum length of a line in bytes, without its line ending. */
export const maxBytes = 65_536

/** A line without its line ending. Its bytes may share memory with the pushed block. */
export interface Line {
  /** The number of the line, from 1. */
  readonly number: number
  /** The bytes of the line; `undefined` if the line is too long. */
  readonly bytes: Uint8Array | undefined
  /** Offset in the file of the first byte after the line and its line ending. */
  readonly end: number
}

/** The state of the reader between two blocks. */
export interface State {
  /** The number of complete lines. */
  readonly lines: number
  /** The number of bytes in complete lines, with their line endings. */
  readonly complete: number
  /** The number of all bytes pushed so far. */
  readonly bytes: number
  /** The incomplete last line; `undefined` if it is already too long. */
  readonly rest: Uint8Array | undefined
}

const emptyBytes = new Uint8Array()

/** A position between two lines: the numbers of lines and of bytes before it. */
export interface Place {
  readonly bytes: number
  readonly lines: number
}

/** Returns the state at a position; by default at the beginning of the file. */
export const start = ({ bytes, lines }: Place = { bytes: 0, lines: 0 }): State => ({
  bytes,
  lines,
  complete: bytes,
  rest: emptyBytes
})

const LF = 0x0a
const CR = 0x0d

/** Adds the next block of the file; returns the lines that end in it. */
export const push = (
  state: State,
  block: Uint8Array
): readonly [lines: ReadonlyArray<Line>, state: State] => {
  const lines: Array<Line> = []
  let { rest, lines: number } = state
  let from = 0
  for (let to = block.indexOf(LF); to !== -1; to = block.indexOf(LF, from)) {
    number++
    lines.push(lineOf(number, join(rest, block.subarray(from, to)), state.bytes + to + 1))
    rest = emptyBytes
    from = to + 1
  }
  // Copied, because the memory of the block may be reused.
  rest = join(rest, block.subarray(from))?.slice()
  const complete = lines.at(-1)?.end ?? state.complete
  return [lines, { lines: number, complete, bytes: state.bytes + block.length, rest }]
}

/** Returns the last line if it has no line ending, otherwise no line. */
export const end = ({ bytes, lines, rest }: State): ReadonlyArray<Line> =>
  rest?.length === 0 ? [] : [lineOf(lines + 1, rest, bytes)]

/** Maximum number of buffered bytes: a line of maximum length, CR and a byte order mark. */
const MAX_REST = maxBytes + 4

/** Joins the parts of a line; returns `undefined` if the line is longer than any valid line. */
const join = (rest: Uint8Array | undefined, next: Uint8Array): Uint8Array | undefined => {
  if (rest === undefined || rest.length + next.length > MAX_REST) return undefined
  if (rest.length === 0) return next
  const line = new Uint8Array(rest.length + next.length)
  line.set(rest)
  line.set(next, rest.length)
  return line
}

const lineOf = (number: number, bytes: Uint8Array | undefined, end: number): Line => {
  if (bytes === undefined) return { number, bytes, end }
  const from = number === 1 && hasByteOrderMark(bytes) ? 3 : 0
  const to = bytes.length > from && bytes[bytes.length - 1] === CR ? bytes.length - 1 : bytes.length
  const isWhole = from === 0 && to === bytes.length
  return {
    number,
    bytes: to - from > maxBytes ? undefined : isWhole ? bytes : bytes.subarray(from, to),
    end
  }
}

const hasByteOrderMark = (bytes: Uint8Array): boolean =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf

/** Returns whether a line contains only JSON white space. */
export const isBlank = (bytes: Uint8Array): boolean =>
  bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === CR)
