/** Prepares the file of a SQLite database: creates it with access only for its owner, or checks that it is usable. */
import { Buffer } from "node:buffer"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Predicate from "effect/Predicate"

/** SQLite's maximum length of a path in bytes, minus the longest suffix that it appends (`-journal`). */
const MAX_PATH_BYTES = 504

/**
 * Creates the file and its directories if they are missing, and returns the created directories. Throws an error that
 * `reasonOf` explains.
 */
export const create = (filename: string): ReadonlyArray<string> => {
  if (Buffer.byteLength(filename) > MAX_PATH_BYTES) throw new Unusable(TOO_LONG)
  const created = createDirectory(path.dirname(filename))
  const existing = fs.statSync(filename, { throwIfNoEntry: false })
  // An existing file is not opened. POSIX locks belong to the process: if a store of this process has the file open,
  // closing another handle to it would release that store's locks, and another program could then delete its log.
  if (existing === undefined) fs.closeSync(fs.openSync(filename, "a", 0o600))
  else checkExisting(filename, existing, fs.constants.R_OK | fs.constants.W_OK)
  return created
}

const checkExisting = (filename: string, stats: fs.Stats, access: number): void => {
  if (stats.isDirectory()) throw new Unusable("it is a directory")
  if (!stats.isFile()) throw new Unusable("it is not a regular file")
  fs.accessSync(filename, access)
}

/**
 * Returns how to read the file so that neither it nor its directory changes: whether no process has it open, so that it
 * needs no locks. Throws an error that `reasonOf` explains.
 */
export const inspect = (filename: string): { readonly isClosed: boolean } => {
  checkExisting(filename, fs.statSync(filename), fs.constants.R_OK)
  const target = fs.realpathSync(filename)
  const [hasLog, hasIndex, hasJournal] = ["-wal", "-shm", "-journal"].map((suffix) =>
    fs.existsSync(`${target}${suffix}`)
  )
  // SQLite would create the missing file, and leave it behind.
  if (hasLog !== hasIndex) throw new Unusable(UNRECOVERED)
  return { isClosed: !hasLog && !hasJournal }
}

export const UNRECOVERED =
  "it was not closed properly, or copied while it was in use: start 'animal-store serve' on it once, which recovers it"

/** Explains to the operator why a path cannot be used; `denied` is the reason without permission. */
export const reasonOf = (thrown: unknown, denied = DENIED): string => {
  const code = Predicate.hasProperty(thrown, "code") ? thrown.code : undefined
  const known = code === "EACCES" || code === "EPERM" ? denied : reasons.get(code)
  return known ?? (thrown instanceof Error ? thrown.message : String(thrown))
}

export const UNREADABLE = "no permission to read it"
export const DENIED = "no permission to write to it or its directory"
export const FULL = "the disk is full"

class Unusable extends Error {}

/**
 * Creates each missing directory with one attempt. The recursive `mkdirSync` never returns if creating a directory in
 * an existing one fails with ENOENT, as in `/proc`.
 */
const createDirectory = (directory: string): ReadonlyArray<string> => {
  const missing: Array<string> = []
  for (let next = directory; !fs.existsSync(next) && next !== path.dirname(next); next = path.dirname(next)) {
    missing.unshift(next)
  }
  return missing.filter((next) => {
    try {
      fs.mkdirSync(next, 0o700)
      return true
    } catch (thrown) {
      // Another process may have created the directory in the meantime.
      if (!Predicate.hasProperty(thrown, "code") || thrown.code !== "EEXIST") throw thrown
      return false
    }
  })
}

const TOO_LONG = "its path is too long"

/** Explanations by Node's error code. */
const reasons = new Map<unknown, string>([
  ["EROFS", "its file system is read-only"],
  ["EISDIR", "it is a directory"],
  ["EEXIST", "a part of its path is not a directory"],
  ["ENOTDIR", "a part of its path is not a directory"],
  ["ENOENT", "no file can be created at this path"],
  ["ENAMETOOLONG", TOO_LONG],
  ["ELOOP", "its path contains a symbolic link loop"],
  ["ENOSPC", FULL]
])
