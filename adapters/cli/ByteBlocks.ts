/** Reads the bytes of a file or of standard input in blocks of at least 256 KiB. */
import { Buffer } from "node:buffer"
import * as fs from "node:fs"
import { Socket } from "node:net"
import type * as CliError from "effect/cli/CliError"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Failure from "./Failure.ts"
import { Host } from "./Host.ts"

/** Minimum size in bytes of every block but the last; each block is stored in one transaction. */
const BLOCK_BYTES = 262_144

/** The bytes of a source. */
export interface ByteBlocks {
  /** The first block, which `all` then contains too; empty if there are no bytes. */
  readonly first: Effect.Effect<Uint8Array, CliError.UserError>
  readonly all: Stream.Stream<Uint8Array, CliError.UserError>
}

/** Returns the bytes of a file; each run of the stream reads it from the beginning. */
export const ofFile = (path: string): ByteBlocks => {
  const all = Stream.suspend(() => blocks(collectBlocks(readFile(path))))
  return {
    first: Effect.map(
      Stream.runHead(all),
      Option.getOrElse(() => new Uint8Array())
    ),
    all
  }
}

/** Returns the bytes of a device, which can be read only once. */
export const ofDevice = (path: string): ByteBlocks => once(() => readFile(path))

/** Returns the bytes of a pipe, which can be read only once. */
export const ofPipe = (path: string): ByteBlocks => once(() => readPipe(path))

/** Returns the bytes of standard input, which can be read only once. */
export const ofStandardInput: Effect.Effect<ByteBlocks> = Effect.map(Host, ({ stdin }) => once(() => stdin))

const readFile = (path: string) => fs.createReadStream(path, { highWaterMark: BLOCK_BYTES })

/** Reads a pipe without blocking a thread: a process cannot exit while one of its threads waits for a writer. */
const readPipe = (path: string): AsyncIterable<Uint8Array> => {
  const { O_NONBLOCK, O_RDONLY } = fs.constants
  return new Socket({ fd: fs.openSync(path, O_RDONLY | O_NONBLOCK), readable: true, writable: false })
}

const once = (open: () => AsyncIterable<Uint8Array>): ByteBlocks => {
  let started:
    | { readonly rest: AsyncGenerator<Uint8Array>; readonly first: Promise<IteratorResult<Uint8Array>> }
    | undefined
  const start = () => {
    if (started === undefined) {
      const rest = collectBlocks(open())
      started = { rest, first: rest.next() }
    }
    return started
  }
  const all = async function* (): AsyncGenerator<Uint8Array> {
    const { first, rest } = start()
    const { done, value } = await first
    if (done === true) return
    yield value
    yield* rest
  }
  return {
    first: Effect.tryPromise({
      try: async () => {
        const { done, value } = await start().first
        return done === true ? new Uint8Array() : value
      },
      catch: readError
    }),
    all: Stream.suspend(() => blocks(all()))
  }
}

const blocks = (source: AsyncIterable<Uint8Array>): Stream.Stream<Uint8Array, CliError.UserError> =>
  Stream.fromAsyncIterable(source, readError)

const readError = (cause: unknown): CliError.UserError =>
  Failure.userError(
    new Error(`cannot read the input: ${cause instanceof Error ? cause.message : String(cause)}`)
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
