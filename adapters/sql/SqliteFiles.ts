/**
 * Checks that the files of an open database are still the ones that were opened. SQLite continues to use removed files,
 * and commits to them are lost when the last connection closes.
 *
 * Other SQLite connections do not remove the `-wal` and `-shm` files of an open connection, because it holds a lock.
 */
import * as fs from "node:fs"
import type { DatabaseSync } from "node:sqlite"

export interface SqliteFiles {
  /** Call before a transaction. Throws if a file was moved, removed, replaced or truncated. */
  readonly check: () => void
  /** Call before a read: checks at most once per `RECHECK_MS`. */
  readonly checkIfDue: () => void
}

/**
 * Minimum milliseconds between checks. It applies to every check before a read, and to some of the files before a
 * transaction, because each file costs a system call.
 */
export const RECHECK_MS = 100

const WAL_HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24

/** What the checks need to know of a connection. */
interface Options {
  /** Path of the database file. */
  readonly filename: string
  /** Whether the database file is checked before each transaction; otherwise at most once per `RECHECK_MS`. */
  readonly isStrict: () => boolean
  /** Called if the log was removed, instead of a checkpoint that saves it. */
  readonly onRemovedLog: (() => void) | undefined
}

/** Creates the checks for a connection in WAL mode; a transaction must have created `-wal` and `-shm`. */
export const make = (
  connection: DatabaseSync,
  { filename, isStrict, onRemovedLog = () => connection.exec("PRAGMA wal_checkpoint(TRUNCATE)") }: Options
): SqliteFiles => {
  const valueOf = (pragma: string, column: string) => connection.prepare(`PRAGMA ${pragma}`).get()?.[column]
  const frameBytes = FRAME_HEADER_BYTES + Number(valueOf("page_size", "page_size"))
  // SQLite creates its files next to the target of a symbolic link.
  const target = fs.realpathSync(filename)
  const database = identityOf(filename, "database file")
  const shared = identityOf(`${target}-shm`, "-shm file of the database")
  const log = identityOf(`${target}-wal`, "-wal file of the database")
  let checkedAt = performance.now()
  let logBytes = 0n
  let isSaved = false

  const checkLog = (): void => {
    const found = log.stat()
    if (found === undefined && !isSaved) {
      // The connection still reads the removed file. A checkpoint moves its commits into the database file.
      database.expect()
      shared.expect()
      onRemovedLog()
      isSaved = true
    }
    const { size } = log.expect(found)
    isSaved = false
    // A checkpoint can truncate the log, but not below the valid frames. Writing beyond the end of the file would leave
    // a hole, which the next checkpoint would copy into the database.
    if (size < logBytes) {
      // SQLite 3.51 and newer only count the frames; older versions run a passive checkpoint.
      const needed = Number(valueOf("wal_checkpoint(NOOP)", "log")) * frameBytes
      const { size: latest } = log.expect()
      if (needed > 0 && latest < BigInt(needed + WAL_HEADER_BYTES)) {
        throw new Error(`the ${log.name} was truncated`)
      }
    }
    logBytes = size
  }

  const check = (): void => {
    const now = performance.now()
    const isDue = now - checkedAt >= RECHECK_MS
    if (isDue || isStrict()) database.expect()
    try {
      if (isDue) shared.expect()
      checkLog()
    } catch (thrown) {
      // An operator can change the mode.
      if (valueOf("journal_mode", "journal_mode") === "wal") throw thrown
    }
    if (isDue) checkedAt = now
  }

  return {
    check,
    checkIfDue: () => {
      if (performance.now() - checkedAt >= RECHECK_MS) check()
    }
  }
}

/** Creates the checks for a file that is read without locks: until its last read, no process may open or change it. */
export const ofClosed = (filename: string): SqliteFiles => {
  const target = fs.realpathSync(filename)
  const versionOf = (): string => {
    const { dev, ino, mtimeNs, size } = fs.statSync(target, { bigint: true })
    return [dev, ino, mtimeNs, size].join()
  }
  const first = versionOf()
  const check = (): void => {
    if (versionOf() !== first || fs.existsSync(`${target}-wal`) || fs.existsSync(`${target}-journal`)) {
      throw new Error("another process has opened the file in the meantime: run the command again")
    }
  }
  return { check, checkIfDue: check }
}

const identityOf = (path: string, name: string) => {
  const stat = () => fs.statSync(path, { bigint: true, throwIfNoEntry: false })
  const first = stat()
  return {
    name,
    stat,
    /** Throws unless `stat` finds the file that was opened. */
    expect: (found = stat()): fs.BigIntStats => {
      if (found === undefined || found.ino !== first?.ino || found.dev !== first.dev) {
        throw new Error(`the ${name} was moved, removed or replaced`)
      }
      return found
    }
  }
}
