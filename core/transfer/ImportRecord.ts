/** Defines the record of an import in a database, and decides from it where an import starts. */
import * as Result from "effect/Result"

/** The progress of an import: the complete lines before an offset. */
export interface Position {
  /** Offset in the source of the first byte that is not imported. */
  readonly bytes: number
  /** The number of complete lines before the offset, including blank lines. */
  readonly lines: number
  /** The number of animals in these lines. */
  readonly animals: number
  /** SHA-256 of the bytes before the offset, in hexadecimal. */
  readonly prefix: string
}

/** The progress of an import and its `keepIds` option, as a database stores them. */
export interface ImportRecord {
  readonly keepIds: boolean
  readonly position: Position
  /** Completion time in epoch milliseconds; `undefined` if the import is unfinished. */
  readonly completedAt: number | undefined
}

/** SHA-256 of zero bytes. */
const EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

/** The position before the first line. */
export const beginning: Position = { bytes: 0, lines: 0, animals: 0, prefix: EMPTY }

/** The options that decide where an import starts. */
export interface ImportRequest {
  readonly keepIds: boolean
  /** Whether to import a completely imported source again. */
  readonly again: boolean
  /** Whether the source can grow: data that is appended after a complete import can be imported later. */
  readonly canGrow: boolean
}

/** The position at which an import starts; `isNew` if its record must be created or replaced. */
export interface Start {
  readonly isNew: boolean
  readonly position: Position
}

/** Returns the start of an import, or fails with the reason why the import must not start. */
export const startOf = (
  record: ImportRecord | undefined,
  { again, canGrow, keepIds }: ImportRequest
): Result.Result<Start, string> => {
  if (record === undefined) return Result.succeed({ isNew: true, position: beginning })
  if (record.completedAt !== undefined && (again || !canGrow)) {
    if (again) return Result.succeed({ isNew: true, position: beginning })
    const { animals } = record.position
    const time = new Date(record.completedAt).toISOString()
    return Result.fail(
      `it was imported completely at ${time} (${animals} animals); --again imports it a second time`
    )
  }
  if (record.keepIds !== keepIds) {
    const [before, now] = record.keepIds ? ["with", "without"] : ["without", "with"]
    return Result.fail(
      `its import began ${before} --keep-ids and cannot be resumed ${now} it; stored so far: ${record.position.animals} animals`
    )
  }
  return Result.succeed({ isNew: false, position: record.position })
}
