/**
 * What statements have read last, as long as it is what they would read again. SQLite tells whether anybody else has
 * written to the file (`PRAGMA data_version`) in a quarter of the time that a page of animals takes to be read.
 */

type Rows = ReadonlyArray<ReadonlyArray<unknown>>

/** Runs a statement. */
type Run = (sql: string, params: ReadonlyArray<unknown>) => Rows

/** Reads of one connection. */
export interface LatestReads {
  /** The rows of a statement that only reads: those that were read before, where nothing was written since. */
  readonly read: Run
  /** To be called before the connection does anything else: its own writes are not told. */
  readonly clear: () => void
}

interface Latest {
  readonly params: ReadonlyArray<unknown>
  /** Known from the second time on: what is asked for once only should not cost more. */
  readonly answer: { readonly version: unknown; readonly rows: Rows } | undefined
}

/** Those of a connection that reads with `run`. */
export const make = (run: Run): LatestReads => {
  const latest = new Map<string, Latest>()
  return {
    read: (sql, params) => {
      const known = latest.get(sql)
      if (known === undefined || !isSame(known.params, params)) {
        latest.set(sql, { params: [...params], answer: undefined })
        return run(sql, params)
      }
      // Before the rows: should somebody write in between, they are read once more than needed.
      const version = run("PRAGMA data_version", [])[0]?.[0]
      if (known.answer !== undefined && known.answer.version === version) return known.answer.rows
      const rows = run(sql, params)
      latest.set(sql, { params: known.params, answer: { version, rows } })
      return rows
    },
    clear: () => {
      if (latest.size > 0) latest.clear()
    }
  }
}

const isSame = (a: ReadonlyArray<unknown>, b: ReadonlyArray<unknown>): boolean =>
  a.length === b.length && a.every((param, index) => param === b[index])
