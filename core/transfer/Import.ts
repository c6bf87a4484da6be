/**
 * Imports animals from lines of JSON. A source is read in blocks; the animals in a block are stored in one transaction,
 * together with the position after them. An interrupted import can therefore be resumed without losing or repeating
 * animals.
 */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { StoreUnavailable } from "../errors/StoreUnavailable.ts"
import { IdTaken, type ImportMoved, PetArchive } from "../ports/PetArchive.ts"
import type { ImportedPet, LineOptions } from "./ImportedPet.ts"
import * as ImportReader from "./ImportReader.ts"
import type { Position } from "./ImportRecord.ts"
import * as InputForm from "./InputForm.ts"
import type * as Lines from "./Lines.ts"

/** A running SHA-256: `digest` returns the hash of all bytes so far in hexadecimal; `update` may be called again. */
export interface Hash {
  readonly update: (bytes: Uint8Array) => void
  readonly digest: () => string
}

/** An invalid line, by its number, and the reason why it is invalid. */
export interface InvalidLine {
  readonly line: number
  readonly reason: string
}

/** Maximum number of invalid lines that are reported; reading stops when this number is reached. */
export const maxInvalidLines = 20

/** Reports progress: the number of bytes from the beginning of the source, and the number of animals in them. */
export type Report = (bytes: number, animals: number) => void

/** The source differs from the source that was imported or checked before. */
export class SourceChanged extends Data.TaggedError("SourceChanged")<{ readonly reason: string }> {
  override get message(): string {
    return this.reason
  }
}

/** The result of `check`. */
export interface Checked {
  readonly animals: number
  readonly invalidLines: ReadonlyArray<InvalidLine>
  /** The largest id of the valid lines; 0 if ids are not kept. */
  readonly lastId: bigint
  /** SHA-256 of the source in hexadecimal; of the part that was read if there are `maxInvalidLines` invalid lines. */
  readonly digest: string
}

/**
 * Checks the lines, until `maxInvalidLines` are invalid, and stores nothing. `findTaken` returns the ids that belong to
 * other animals in the database.
 */
export const check = Effect.fnUntraced(function* <E, E2>(
  blocks: Stream.Stream<Uint8Array, E>,
  options: LineOptions,
  hash: Hash,
  report: Report,
  findTaken: (pets: ReadonlyArray<ImportedPet>) => Effect.Effect<ReadonlyArray<bigint>, E2>
): Effect.fn.Return<Checked, E | E2> {
  const invalidLines: Array<InvalidLine> = []
  let state = ImportReader.start(options)
  let animals = 0
  let lastId = 0n
  const checkEntries = Effect.fnUntraced(function* (entries: ReadonlyArray<ImportReader.Entry>) {
    const pets = petsIn(entries)
    lastId = pets.at(-1)?.id ?? lastId
    const taken = yield* findTaken(pets)
    for (const entry of entries) {
      const reason = errorOf(entry, taken)
      if (reason === undefined) animals++
      else if (invalidLines.length < maxInvalidLines) invalidLines.push({ line: entry.line, reason })
    }
  })
  yield* blocks.pipe(
    Stream.takeWhile(() => invalidLines.length < maxInvalidLines),
    Stream.runForEach((block) => {
      hash.update(block)
      const [entries, next] = ImportReader.push(state, block)
      state = next
      return Effect.map(checkEntries(entries), () => report(state.lines.bytes, animals))
    })
  )
  yield* checkEntries(ImportReader.end(state))
  return {
    animals,
    invalidLines,
    lastId,
    digest: hash.digest()
  }
})

/** Returns the form of a source that begins with `block`, unless its first line is an animal. */
export const formOf = (block: Uint8Array, options: LineOptions): InputForm.InputForm | undefined => {
  const [[first]] = ImportReader.push(ImportReader.start(options), block)
  return first !== undefined && Result.isSuccess(first.decoded) ? undefined : InputForm.find(block)
}

const petsIn = (entries: ReadonlyArray<ImportReader.Entry>): ReadonlyArray<ImportedPet> =>
  entries.reduce<Array<ImportedPet>>((pets, { decoded }) => {
    if (Result.isSuccess(decoded)) pets.push(decoded.success)
    return pets
  }, [])

const errorOf = ({ decoded }: ImportReader.Entry, taken: ReadonlyArray<bigint>): string | undefined => {
  if (Result.isFailure(decoded)) return decoded.failure
  const { id } = decoded.success
  return id !== undefined && taken.includes(id) ? new IdTaken({ id }).message : undefined
}

/** The source that `store` imports. */
export interface Source {
  /** The name of the record; `undefined` if the import is not recorded. */
  readonly name: string | undefined
  /** The start position. The bytes before it are not imported; their hash is compared with its `prefix`. */
  readonly from: Position
  /** SHA-256 of the whole source in hexadecimal; `undefined` if the source was not checked before. */
  readonly digest: string | undefined
}

/** The result of `store`. */
export interface Stored {
  /** The position after the last stored line. */
  readonly position: Position
  /** The number of animals that this run stored. */
  readonly inserted: number
  /** The number of animals that the database already had, with the same ids and content. */
  readonly present: number
  /** The invalid lines. The first invalid line and all later lines are not stored. */
  readonly invalidLines: ReadonlyArray<InvalidLine>
}

/** Stores the animals in a source up to its first invalid line, and updates its record, if any. */
export const store = Effect.fnUntraced(function* <E>(
  blocks: Stream.Stream<Uint8Array, E>,
  { digest, from, name }: Source,
  options: LineOptions,
  hash: Hash,
  report: Report
): Effect.fn.Return<Stored, E | StoreUnavailable | ImportMoved | IdTaken | SourceChanged, PetArchive> {
  const archive = yield* PetArchive
  const invalidLines: Array<InvalidLine> = []
  let state = ImportReader.start(options, from)
  let position = from
  let inserted = 0
  let present = 0

  const save = (pets: ReadonlyArray<ImportedPet>, to: Position, completedAt?: number) =>
    Effect.map(
      archive.store({
        pets,
        keepIds: options.keepIds,
        step: name === undefined ? undefined : { source: name, from: position, to, completedAt }
      }),
      (count) => {
        inserted += count
        present += pets.length - count
        position = to
      }
    )

  /**
   * Hashes `block`, and stores the animals of `entries` (the lines that end in `block`) up to the first invalid line.
   */
  const storeBlock = Effect.fnUntraced(function* (
    entries: ReadonlyArray<ImportReader.Entry>,
    complete: Lines.Place,
    block: Uint8Array
  ) {
    const before = state.lines.bytes - block.length
    const isStopped = invalidLines.length > 0
    for (const { decoded, line } of entries) {
      if (Result.isFailure(decoded) && invalidLines.length < maxInvalidLines)
        invalidLines.push({ line, reason: decoded.failure })
    }
    if (isStopped) return
    const valid = invalidLines.length === 0 ? entries : entries.slice(0, entries.findIndex(isInvalid))
    const to = invalidLines.length === 0 ? complete : placeAfter(valid.at(-1), position)
    if (to.bytes <= position.bytes) return hash.update(block)
    hash.update(block.subarray(0, to.bytes - before))
    yield* save(petsIn(valid), {
      bytes: to.bytes,
      lines: to.lines,
      animals: position.animals + valid.length,
      prefix: hash.digest()
    })
    hash.update(block.subarray(to.bytes - before))
    report(to.bytes, position.animals)
  })

  const prefix = skipPrefix(from, hash)
  yield* blocks.pipe(
    Stream.takeWhile(() => invalidLines.length < maxInvalidLines),
    Stream.mapEffect((block) => Effect.fromResult(prefix.skip(block))),
    Stream.runForEach((block) => {
      const [entries, next] = ImportReader.push(state, block)
      state = next
      return storeBlock(entries, { bytes: next.lines.complete, lines: next.lines.lines }, block)
    })
  )
  yield* Effect.fromResult(prefix.end())
  // A last line without a line feed is not counted, because a stream that grows goes on in this line.
  const end = { bytes: state.lines.bytes, lines: state.lines.lines }
  yield* storeBlock(ImportReader.end(state), end, new Uint8Array())
  if (invalidLines.length > 0) return { position, inserted, present, invalidLines }
  if (digest !== undefined && hash.digest() !== digest) {
    return yield* new SourceChanged({ reason: "it changed during the import" })
  }
  yield* save([], position, yield* Clock.currentTimeMillis)
  return { position, inserted, present, invalidLines }
})

const isInvalid = ({ decoded }: ImportReader.Entry): boolean => Result.isFailure(decoded)

const placeAfter = (entry: ImportReader.Entry | undefined, fallback: Lines.Place): Lines.Place =>
  entry === undefined ? fallback : { bytes: entry.end, lines: entry.line }

/** Hashes and skips the bytes before a position; fails if they differ from the imported bytes. */
const skipPrefix = ({ bytes, prefix }: Position, hash: Hash) => {
  const changed = Result.fail(
    new SourceChanged({ reason: `its first ${bytes} bytes differ from those that were imported before` })
  )
  let skipped = 0
  return {
    /** Hashes the part of a block before the position, and returns the part after it. */
    skip: (block: Uint8Array): Result.Result<Uint8Array, SourceChanged> => {
      if (skipped === bytes) return Result.succeed(block)
      const before = block.subarray(0, bytes - skipped)
      hash.update(before)
      skipped += before.length
      if (skipped === bytes && hash.digest() !== prefix) return changed
      return Result.succeed(block.subarray(before.length))
    },
    end: (): Result.Result<void, SourceChanged> => (skipped === bytes ? Result.succeed(undefined) : changed)
  }
}
