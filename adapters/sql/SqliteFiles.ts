/**
 * Whether the files of an open database are still the ones that were opened. SQLite goes on with files that have no
 * name any more, and what it commits to them is lost when the last connection closes.
 *
 * While a connection is open nobody else may remove its `-wal` and `-shm`: each connection to the database holds a lock.
 */
import * as fs from "node:fs"

export interface SqliteFiles {
  /** To be called before a transaction. Throws when a file was moved, removed, replaced or truncated. */
  readonly check: () => void
  /** The same before a read, at most once in `RECHECK_MS`. */
  readonly checkSometimes: () => void
}

/** What the connection is asked to do. */
export interface Checkpoints {
  /** Whether the connection is in WAL mode; its owner may have left it. */
  readonly areUsed: () => boolean
  /** The number of frames in the write-ahead log that count. Changes nothing, where SQLite is 3.51 or newer. */
  readonly frames: () => number
  /** Moves the write-ahead log into the database file. */
  readonly truncate: () => void
}

export interface SqliteFilesOptions {
  /** Path of the database file. */
  readonly filename: string
  /** Bytes of a page. */
  readonly pageSize: number
  /** Whether the database file is looked at before each transaction, or only as often as before reads. */
  readonly isStrict: boolean
}

/** Milliseconds between two looks at what is not looked at each time: a look is a system call for each file. */
export const RECHECK_MS = 100

const WAL_HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24

/** The files of a database in WAL mode, of which a transaction has created `-wal` and `-shm`. */
export const make = (
  { filename, isStrict, pageSize }: SqliteFilesOptions,
  checkpoints: Checkpoints
): SqliteFiles => {
  // SQLite puts its files beside the one that a link leads to.
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
      // The connection still reads what was committed to the removed file. Here it reaches the disk under a name.
      database.expect()
      shared.expect()
      checkpoints.truncate()
      isSaved = true
    }
    const { size } = log.expect(found)
    isSaved = false
    // A checkpoint may truncate the log, but not below the frames that count. Writing behind the end of the file would
    // leave a hole, and the next checkpoint would copy it into the database.
    if (size < logBytes) {
      const needed = checkpoints.frames() * (FRAME_HEADER_BYTES + pageSize)
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
    if (isDue || isStrict) database.expect()
    try {
      if (isDue) shared.expect()
      checkLog()
    } catch (thrown) {
      if (checkpoints.areUsed()) throw thrown
    }
    if (isDue) checkedAt = now
  }

  return {
    check,
    checkSometimes: () => {
      if (performance.now() - checkedAt >= RECHECK_MS) check()
    }
  }
}

interface Identity {
  readonly name: string
  readonly stat: () => fs.BigIntStats | undefined
  /** Throws unless the file that `stat` finds is the one of the beginning. */
  readonly expect: (found?: fs.BigIntStats | undefined) => fs.BigIntStats
}

const identityOf = (path: string, name: string): Identity => {
  const stat = () => fs.statSync(path, { bigint: true, throwIfNoEntry: false })
  const first = stat()
  return {
    name,
    stat,
    expect: (found = stat()) => {
      if (found === undefined || found.ino !== first?.ino || found.dev !== first.dev) {
        throw new Error(`the ${name} was moved, removed or replaced`)
      }
      return found
    }
  }
}
