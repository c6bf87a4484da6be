/**
 * Implements `SqlClient` over the driver's pool of connections to PostgreSQL. The driver's own client gives no access
 * to its pool, which must discard the connections to a server that accepts no writes, and wait for an open connection
 * while the server opens no more.
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import * as PgConnection from "@effect/sql-pg/PgConnection"
import * as PgPool from "@effect/sql-pg/PgPool"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Predicate from "effect/Predicate"
import type * as Reactivity from "effect/reactivity/Reactivity"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as SqlClient from "effect/sql/SqlClient"
import type { Borrower, Connection } from "effect/sql/SqlConnection"
import { ConnectionError, isSqlError, SqlError, UnknownError } from "effect/sql/SqlError"
import { DatabaseUnusable, detailOf } from "./DatabaseUnusable.ts"
import * as PostgresSessions from "./PostgresSessions.ts"
import * as SqlFailure from "./SqlFailure.ts"

/**
 * Minimum age of a connection whose failure discards all older ones, in milliseconds: while the address leads to a
 * standby, new connections fail too, and must not be replaced for each request.
 */
const MIN_AGE_MS = 500

/** Time for which the pool does not grow after the server has refused a connection, in milliseconds. */
const REFUSED_MS = 1_000

/** Pause before a call that needed another connection is repeated, in milliseconds. */
const REFUSED_PAUSE_MS = 10

/** Minimum time between two warnings about refused connections, in milliseconds. */
const WARNING_MS = 60_000

/**
 * Creates a client whose connections are opened on demand. A connection that is lost, leads to a read-only server or has
 * a wrong setting discards all connections that are as old. A statement, or a whole transaction, that a read-only server
 * rejected is repeated once on a new connection. A statement that begins or ends a transaction gets its response within
 * `controlMs` milliseconds, or its connection is closed. Fails behind a pooler that shares sessions between connections.
 */
export const make = Effect.fnUntraced(function* (
  config: PgPool.Config,
  controlMs: number
): Effect.fn.Return<SqlClient.SqlClient, SqlError | DatabaseUnusable, Scope.Scope | Reactivity.Reactivity> {
  const pool = yield* PgPool.make(config)
  const clock = yield* Clock.Clock
  const nowMs = () => Number(clock.monotonicTimeNanosUnsafe() / NANOS_PER_MS)

  /** Incremented to discard all connections of earlier generations. */
  let generation = 0
  const sessions = new WeakMap<PgConnection.PgConnection, Session>()

  /** Returns the statements on a connection. The client transforms no rows, so the methods ignore that parameter. */
  const sessionOn = (
    connection: PgConnection.PgConnection,
    { generation, usedSince }: Pick<Session, "generation" | "usedSince">
  ): Session => {
    const observed = <A>(call: Effect.Effect<A, SqlError>): Effect.Effect<A, SqlError> =>
      Effect.tapError(call, (error) => Effect.sync(() => onFailure(session, error)))
    const query = (sql: string, params: ReadonlyArray<unknown>, isPrepared?: boolean) => {
      const call = connection.query(sql, params, isPrepared)
      return observed(isControl(sql) ? bounded(call, controlMs) : call)
    }
    const session: Session = {
      generation,
      usedSince,
      execute: (sql, params) => Effect.map(query(sql, params), rowsOf),
      executeUnprepared: (sql, params) => Effect.map(query(sql, params, false), rowsOf),
      executeRaw: (sql, params) => query(sql, params),
      executeValues: (sql, params) => observed(connection.queryValues(sql, params)),
      executeValuesUnprepared: (sql, params) => observed(connection.queryValues(sql, params, false)),
      executeStream: (sql, params) => connection.stream(sql, params)
    }
    return session
  }

  const sessionOf = (connection: PgConnection.PgConnection): Session => {
    const known = sessions.get(connection)
    if (known !== undefined) return known
    const session = sessionOn(connection, { generation, usedSince: nowMs() })
    sessions.set(connection, session)
    return session
  }
  const isStale = (connection: PgConnection.PgConnection) => sessionOf(connection).generation < generation

  const onFailure = (session: Session, error: SqlError): void => {
    const cause = SqlFailure.causeOf(error)
    // A session keeps the settings with which it began, such as `search_path`, so only a new one obeys a correction.
    if ((cause !== "connection" && cause !== "configuration") || session.generation < generation) return
    if (nowMs() - session.usedSince >= MIN_AGE_MS) generation++
  }

  /** Repeats work that a read-only server rejected, if the connections to that server have been discarded. */
  const onNewConnection = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      const before = generation
      return Effect.catchIf(
        work,
        (error) => isSqlError(error) && SqlFailure.isReadOnlyServer(error) && generation > before,
        () => work
      )
    })

  /** Number of connections in use, and its maximum since the pool could last grow: so many are open. */
  let used = 0
  let maxUsed = 0
  /** Admits as many calls as there are connections, from a refused connection until `growsAt`. */
  let openConnections: Semaphore.Semaphore | undefined
  let growsAt = 0
  let warnedAt = Number.NEGATIVE_INFINITY

  const start = (): void => {
    maxUsed = Math.max(maxUsed, ++used)
  }
  const end = Effect.sync(() => {
    used--
  })

  const limitNow = (): Semaphore.Semaphore | undefined => {
    if (openConnections !== undefined && nowMs() >= growsAt) {
      openConnections = undefined
      maxUsed = used
    }
    return openConnections
  }

  /** Waits before the next attempt if the server refused a connection but others are open; fails otherwise. */
  const waitForOpen = (error: SqlError): Effect.Effect<void, SqlError> =>
    Effect.suspend(() => {
      if (!SqlFailure.isConnectionLimit(error) || maxUsed === 0) return Effect.fail(error)
      const now = nowMs()
      if (limitNow() === undefined) {
        openConnections = Semaphore.makeUnsafe(maxUsed)
        growsAt = now + REFUSED_MS
      }
      const pause = Effect.sleep(REFUSED_PAUSE_MS)
      if (now - warnedAt < WARNING_MS) return pause
      warnedAt = now
      const warning = `PostgreSQL opens no more connections, so requests share ${maxUsed}: ${detailOf(error)}`
      return Effect.andThen(Effect.logWarning(warning), pause)
    })

  /** Leases a connection of the current generation until the scope closes. */
  const lease: Effect.Effect<PgConnection.PgConnection, SqlError, Scope.Scope> = Effect.gen(function* () {
    while (true) {
      const scope = yield* Effect.acquireRelease(Scope.make(), Scope.close)
      const limit = limitNow()
      const leased = yield* Effect.andThen(limit?.takeScoped(1) ?? Effect.void, pool.get).pipe(
        Scope.provide(scope),
        Effect.result
      )
      if (leased._tag === "Success" && !isStale(leased.success)) {
        // In one step: an interruption between the two would count an end without a start.
        yield* Effect.suspend(() => {
          start()
          return Scope.addFinalizer(scope, end)
        })
        return leased.success
      }
      if (leased._tag === "Success") yield* pool.invalidate(leased.success)
      yield* Scope.close(scope, Exit.void)
      if (leased._tag === "Failure") yield* waitForOpen(leased.failure)
    }
  })

  const borrower: Borrower = <A, E, R>(use: (connection: Connection) => Effect.Effect<A, E, R>) => {
    const useLeased = Effect.scoped(Effect.flatMap(lease, (connection) => use(sessionOf(connection))))
    const borrow = Effect.suspend(() => {
      if (limitNow() !== undefined) return useLeased
      return Effect.catchIf(
        pool.use((connection): Effect.Effect<A, E | SqlError, R> => {
          if (isStale(connection)) return stale
          start()
          return Effect.ensuring(use(sessionOf(connection)), end)
        }),
        isSqlError,
        (error) => (error === staleError ? useLeased : Effect.andThen(waitForOpen(error), useLeased))
      )
    })
    return onNewConnection(borrow)
  }

  const client = yield* SqlClient.make({
    acquirer: Effect.map(lease, sessionOf),
    borrower,
    transactionAcquirer: Effect.flatMap(lease, (connection) =>
      Effect.map(connection.pin, (pinned) => sessionOn(pinned, sessionOf(connection)))
    ),
    compiler: PgClient.makeCompiler(),
    driver: "pg",
    prepareTransactionControls: true,
    commit,
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
    spanAttributes: [["db.system.name", "postgresql"]]
  })
  const keepsSessions = yield* Effect.scoped(
    Effect.flatMap(lease, (connection) => PostgresSessions.areKept(connection, PgConnection.make(config)))
  )
  if (!keepsSessions) return yield* new DatabaseUnusable({ reason: SHARED_SESSIONS })
  const { withTransaction } = client
  return Object.assign(client, {
    withTransaction: <A, E, R>(work: Effect.Effect<A, E, R>) => onNewConnection(withTransaction(work))
  })
})

const SHARED_SESSIONS =
  "a pooler such as PgBouncer in transaction mode shares its sessions between connections: set pool_mode = session, or pass the address of PostgreSQL itself"

const NANOS_PER_MS = 1_000_000n

/** The failure of a checkout that returned a connection of an earlier generation. */
const staleError = new SqlError({ reason: new ConnectionError({ cause: undefined, operation: "connect" }) })
const stale = Effect.fail(staleError)

/** A connection that reports its failures. */
interface Session extends Connection {
  readonly generation: number
  /** Monotonic time of its first use, in milliseconds. */
  readonly usedSince: number
}

/** Whether a statement begins or ends a transaction. */
const isControl = (sql: string): boolean => /^(?:BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)\b/.test(sql)

/** Bounds a statement that the client makes uninterruptible, so that no timeout of a call would end it. */
const bounded = <A>(control: Effect.Effect<A, SqlError>, controlMs: number): Effect.Effect<A, SqlError> =>
  Effect.timeoutOrElse(Effect.interruptible(control), {
    duration: controlMs,
    orElse: () => Effect.fail(noResponse)
  })

const noResponse = new SqlError({
  reason: new ConnectionError({
    cause: undefined,
    operation: "execute",
    message: "PostgreSQL did not respond"
  })
})

const rowsOf = ({ rows }: PgConnection.Result) => rows

/** Commits; PostgreSQL responds `ROLLBACK` if the transaction was aborted. */
const commit = (connection: Connection): Effect.Effect<void, SqlError> =>
  Effect.flatMap(connection.executeRaw("COMMIT", []), (result) =>
    Predicate.hasProperty(result, "command") && result.command === "ROLLBACK"
      ? Effect.fail(
          new SqlError({ reason: new UnknownError({ cause: new Error(ABORTED), message: ABORTED }) })
        )
      : Effect.void
  )

const ABORTED = "the transaction was aborted, so it was rolled back"
