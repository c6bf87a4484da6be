/** Writes a file that gets its final name only when it is complete. */
import { randomUUID } from "node:crypto"
import * as fs from "node:fs/promises"
import * as path from "node:path"
import type * as CliError from "effect/cli/CliError"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import * as Failure from "./Failure.ts"

export interface OutputFile {
  readonly write: (text: string) => Effect.Effect<void, CliError.UserError>
  /** Syncs the file to the disk, then gives it its final name. */
  readonly complete: Effect.Effect<void, CliError.UserError>
}

/**
 * Creates a temporary file in the directory of `file`, readable by its owner only. Closing the scope removes the
 * temporary file, but not a completed `file`. Fails if `file` exists, unless `force` is set.
 */
export const make = (
  file: string,
  force: boolean
): Effect.Effect<OutputFile, CliError.UserError, Scope.Scope> =>
  Effect.gen(function* () {
    // Through a link, so that the link stays; one without a target is replaced.
    const target = yield* Effect.promise(() => fs.realpath(file).catch(() => path.resolve(file)))
    const temporary = path.join(path.dirname(target), `.${path.basename(target)}.${randomUUID()}.partial`)
    const attempt = <A>(work: () => Promise<A>) =>
      Effect.tryPromise({ try: work, catch: (cause) => Failure.userError(new Error(messageOf(file, cause))) })
    const existing = yield* attempt(() => kindOf(target))
    if (existing !== undefined && existing !== "file") {
      return yield* Effect.fail(
        Failure.userError(new Error(`--out: ${file} is ${existing}, ${NOT_REPLACED}`))
      )
    }
    // `complete` also fails if the file exists; this check reports it before anything is written.
    if (!force && existing !== undefined) {
      return yield* Effect.fail(Failure.userError(new Error(existsMessage(file))))
    }
    const handle = yield* Effect.acquireRelease(
      attempt(() => fs.open(temporary, "wx", 0o600)),
      (handle) =>
        Effect.promise(async () => {
          await handle.close()
          await fs.rm(temporary, { force: true })
        })
    )
    return {
      write: (text) => attempt(() => handle.writeFile(text)),
      complete: attempt(async () => {
        await handle.sync()
        if (force) await fs.rename(temporary, target)
        // Unlike `rename`, `link` does not replace a file that was created in the meantime.
        else await fs.link(temporary, target).catch((cause) => renameWithoutLinks(cause, temporary, target))
      })
    }
  })

/**
 * Called when `link` fails. Rethrows `EEXIST`; otherwise the file system has no hard links: reserves the name with an
 * empty file, then replaces that file.
 */
const renameWithoutLinks = async (cause: unknown, temporary: string, target: string): Promise<void> => {
  if (Predicate.hasProperty(cause, "code") && cause.code === "EEXIST") throw cause
  await (await fs.open(target, "wx", 0o600)).close()
  await fs.rename(temporary, target)
}

const NOT_REPLACED = "not a regular file; without --out, the animals go to standard output"

/** Returns what a path or the target of a link is; a link without a target counts as a file. */
const kindOf = async (file: string): Promise<string | undefined> => {
  const stats = await fs.stat(file).catch(() => fs.lstat(file).catch(() => undefined))
  if (stats === undefined) return undefined
  if (stats.isFile() || stats.isSymbolicLink()) return "file"
  if (stats.isDirectory()) return "a directory"
  if (stats.isFIFO()) return "a named pipe"
  return stats.isSocket() ? "a socket" : "a device"
}

const existsMessage = (file: string): string => `--out: ${file} exists; --force replaces it`

const messageOf = (file: string, cause: unknown): string => {
  if (Predicate.hasProperty(cause, "code") && cause.code === "EEXIST") return existsMessage(file)
  return `--out: ${cause instanceof Error ? cause.message : String(cause)}`
}
