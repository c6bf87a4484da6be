/** Tests the transactions of a connection that uses no effects; see `SqliteClient.test.ts` for its statements. */
import { StatementSync } from "node:sqlite"
import { describe, expect, it, onTestFinished, vi } from "vitest"
import * as SqliteConnection from "./SqliteConnection.ts"

/** Opens a database in memory with an empty table. */
const open = (): SqliteConnection.SqliteConnection => {
  const connection = SqliteConnection.open({ filename: ":memory:" })
  onTestFinished(connection.close)
  connection.run("CREATE TABLE t (a INTEGER PRIMARY KEY)", [])
  return connection
}

const insert = (run: SqliteConnection.Run, ...values: ReadonlyArray<unknown>) =>
  values.map((value) => run("INSERT INTO t VALUES (?) RETURNING a", [value]))

const SELECT_ALL = "SELECT a FROM t"

describe("SqliteConnection.transact", () => {
  it("runs a transaction atomically, with exact int64 values", () => {
    const max = 2n ** 63n - 1n
    const { run, transact } = open()
    expect(transact((run) => insert(run, 1, max))).toEqual([[[1n]], [[max]]])
    const rejected = () => transact((run) => [insert(run, 2), run("INSERT INTO nothing VALUES (1)", [])])
    expect(rejected).toThrow(SqliteConnection.SqliteFailure)
    const bug = new Error("a bug")
    const dying = () =>
      transact((run) => {
        insert(run, 3)
        throw bug
      })
    expect(dying).toThrow(bug)
    expect(transact((run) => run(SELECT_ALL, []))).toEqual([[1n], [max]])
    expect(transact((run) => insert(run, 4))).toEqual([[[4n]]])
    expect(run(SELECT_ALL, [])).toEqual([[1n], [4n], [max]])
  })

  it("retries a failed rollback when recover is called", () => {
    const failing = new Map<string, number>()
    const { all } = StatementSync.prototype
    const spy = vi.spyOn(StatementSync.prototype, "all").mockImplementation(function (
      this: StatementSync,
      ...values
    ) {
      const failuresLeft = failing.get(this.sourceSQL) ?? 0
      failing.set(this.sourceSQL, failuresLeft - 1)
      if (failuresLeft > 0) throw new Error(`${this.sourceSQL} fails`)
      return all.apply(this, values)
    })
    onTestFinished(() => spy.mockRestore())
    const connection = open()
    failing.set("COMMIT", 1).set("ROLLBACK", 1)
    const committing = () => connection.transact((run) => insert(run, 1))
    expect(committing).toThrow(
      expect.objectContaining({ cause: expect.objectContaining({ message: "COMMIT fails" }) })
    )
    expect(connection.isTransaction()).toBe(true)
    connection.recover()
    expect([connection.isTransaction(), connection.run(SELECT_ALL, [])]).toEqual([false, []])
  })
})
