/** Opens the input of `animal-store import`: a file, or a stream that can be read only once. */
import { createHash } from "node:crypto"
import * as fs from "node:fs/promises"
import type * as CliError from "effect/cli/CliError"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type { Hash } from "../../core/transfer/Import.ts"
import * as ByteBlocks from "./ByteBlocks.ts"
import * as Failure from "./Failure.ts"
import { printable } from "./Printable.ts"

export interface ImportSource {
  /** Whether the source can be read again. */
  readonly isFile: boolean
  /** The name of the source in messages. */
  readonly label: string
  /** The size of a file in bytes; `undefined` for a stream. */
  readonly size: number | undefined
  readonly blocks: ByteBlocks.ByteBlocks
}

/** Returns the source at a path, or standard input for `-`; fails if there is no such file. */
export const open = (file: string): Effect.Effect<ImportSource, CliError.UserError> => {
  const label = printable(file)
  if (file === "-") {
    return Effect.map(ByteBlocks.ofStandardInput, (blocks) => ({
      isFile: false,
      label: "standard input",
      size: undefined,
      blocks
    }))
  }
  const readError = (reason: string) => Failure.userError(new Error(`cannot read ${label}: ${reason}`))
  return Effect.tryPromise({ try: () => fs.stat(file), catch: (cause) => readError(reasonOf(cause)) }).pipe(
    Effect.flatMap((stats) => {
      if (stats.isDirectory()) return Effect.fail(readError("it is a directory"))
      const isFile = stats.isFile()
      const read = isFile ? ByteBlocks.ofFile : stats.isFIFO() ? ByteBlocks.ofPipe : ByteBlocks.ofDevice
      return Effect.succeed({ isFile, label, size: isFile ? stats.size : undefined, blocks: read(file) })
    })
  )
}

const reasonOf = (cause: unknown): string => {
  if (Predicate.hasProperty(cause, "code") && cause.code === "ENOENT") return "it does not exist"
  return cause instanceof Error ? cause.message : String(cause)
}

/** Creates a SHA-256 hash whose digest can be read between updates. */
export const makeHash = (): Hash => {
  const hash = createHash("sha256")
  return {
    update: (bytes) => void hash.update(bytes),
    digest: () => hash.copy().digest("hex")
  }
}
