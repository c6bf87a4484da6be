/** Reads blocks of bytes as animals, one per line. */
import * as Result from "effect/Result"
import type * as Int64 from "../domain/Int64.ts"
import * as ImportedPet from "./ImportedPet.ts"
import * as Lines from "./Lines.ts"

/** A line that is not blank: an animal, or the reason why it is invalid. */
export interface Entry {
  readonly line: number
  /** Offset in the file after the line. */
  readonly end: number
  readonly decoded: Result.Result<ImportedPet.ImportedPet, string>
}

/** The state of the reader between two blocks. */
export interface State {
  readonly options: ImportedPet.LineOptions
  readonly lines: Lines.State
  /** The id of the last animal, with `keepIds`. */
  readonly lastId: Int64.Int64
}

/** Starts after complete lines that were read before; the default is the beginning of the file. */
export const start = (options: ImportedPet.LineOptions, after?: Lines.Place): State => ({
  options,
  lines: Lines.start(after),
  lastId: 0n
})

/** Adds the next block. */
export const push = (
  state: State,
  block: Uint8Array
): readonly [entries: ReadonlyArray<Entry>, state: State] => {
  const [found, lines] = Lines.push(state.lines, block)
  return read({ ...state, lines }, found)
}

/** Returns the entry of a last line without a line ending. */
export const end = (state: State): ReadonlyArray<Entry> => read(state, Lines.end(state.lines))[0]

const read = (
  state: State,
  lines: ReadonlyArray<Lines.Line>
): readonly [entries: ReadonlyArray<Entry>, state: State] => {
  const entries: Array<Entry> = []
  let { lastId } = state
  for (const { bytes, end, number } of lines) {
    if (bytes !== undefined && Lines.isBlank(bytes)) continue
    const decoded = decode(bytes, state.options, lastId)
    if (Result.isSuccess(decoded) && decoded.success.id !== undefined) lastId = decoded.success.id
    entries.push({ line: number, end, decoded })
  }
  return [entries, { ...state, lastId }]
}

const decode = (bytes: Uint8Array | undefined, options: ImportedPet.LineOptions, lastId: Int64.Int64) => {
  if (bytes === undefined) return tooLong
  const decoded = ImportedPet.decode(bytes, options)
  // Ascending ids prove in bounded memory that no id occurs twice.
  return Result.isSuccess(decoded) && decoded.success.id !== undefined && decoded.success.id <= lastId
    ? Result.fail(`id: must be larger than ${lastId}, the id before it`)
    : decoded
}

const tooLong = Result.fail(`is longer than ${Lines.maxBytes} bytes`)
