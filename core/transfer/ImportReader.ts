/** Decodes blocks of bytes to animals, one per line. */
import * as Result from "effect/Result"
import type * as Int64 from "../domain/Int64.ts"
import * as ImportedPet from "./ImportedPet.ts"
import * as Lines from "./Lines.ts"

/** A line that is not blank: an animal, or the reason why it is invalid. */
export interface Entry {
  readonly line: number
  /** Offset in the source of the first byte after the line. */
  readonly end: number
  readonly decoded: Result.Result<ImportedPet.ImportedPet, string>
}

/** The state of the reader between two blocks. */
export interface State {
  readonly options: ImportedPet.LineOptions
  readonly lines: Lines.State
  /** The id of the last animal with an id; 0 before the first one, and if ids are not kept. */
  readonly lastId: Int64.Int64
}

/** Returns the state after complete lines that were read before; by default at the beginning of the source. */
export const start = (options: ImportedPet.LineOptions, after?: Lines.Place): State => ({
  options,
  lines: Lines.start(after),
  lastId: 0n
})

/** Adds the next block of the source; returns the entries of the lines that end in it. */
export const push = (
  state: State,
  block: Uint8Array
): readonly [entries: ReadonlyArray<Entry>, state: State] => {
  const [found, lines] = Lines.push(state.lines, block)
  return decodeLines({ ...state, lines }, found)
}

/** Returns the entry of the last line if it has no line ending, otherwise no entry. */
export const end = (state: State): ReadonlyArray<Entry> => decodeLines(state, Lines.end(state.lines))[0]

const decodeLines = (
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
  // Because ids must be ascending, bounded memory is enough to detect duplicate ids.
  return Result.isSuccess(decoded) && decoded.success.id !== undefined && decoded.success.id <= lastId
    ? Result.fail(`id: must be larger than ${lastId}, the id before it`)
    : decoded
}

const tooLong = Result.fail(`is longer than ${Lines.maxBytes} bytes`)
