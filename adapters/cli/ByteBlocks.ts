/** Reads the bytes of a file or of standard input in blocks of at least 256 KiB. */
import { Buffer } from "node:buffer"
import * as fs from "node:fs"
import type * as CliError from "effect/cli/CliError"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Failure from "./Failure.ts"
import { Host } from "./Host.ts"

/** Minimum size in bytes of every block but the last; each block is stored in one transaction. */
const BLOCK_BYTES = 262_144

/** Returns the bytes of a file; each run of the stream reads it from the beginning. */
export const ofFile = (path: string): Stream.Stream<Uint8Array, CliError.UserError> =>
  Stream.suspend(() => blocks(fs.createReadStream(path, { highWaterMark: BLOCK_BYTES })))

/** Reads the bytes of standard input; the stream can run only once. */
export const ofStandardInput: Stream.Stream<Uint8Array, CliError.UserError> = Stream.unwrap(
  Effect.map(Host, ({ stdin }) => blocks(stdin))
)

const blocks = (source: AsyncIterable<Uint8Array>): Stream.Stream<Uint8Array, CliError.UserError> =>
  Stream.fromAsyncIterable(collectBlocks(source), (cause) =>
    Failure.userError(
      new Error(`cannot read the input: ${cause instanceof Error ? cause.message : String(cause)}`)
    )
  )

async function* collectBlocks(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let parts: Array<Uint8Array> = []
  let size = 0
  for await (const part of source) {
    parts.push(part)
    size += part.length
    if (size < BLOCK_BYTES) continue
    yield Buffer.concat(parts)
    parts = []
    size = 0
  }
  if (size > 0) yield Buffer.concat(parts)
}
