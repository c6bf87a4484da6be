/** Counts rate limits in PostgreSQL: concurrent requests share statements (`PostgresBatch`). */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Semaphore from "effect/Semaphore"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import * as KeyedQueues from "../storage/KeyedQueues.ts"
import * as PostgresBatch from "./PostgresBatch.ts"
import * as RateLimitStep from "./RateLimitStep.ts"
import type * as SqlCall from "./SqlCall.ts"
import type { SqlOptions } from "./SqlOptions.ts"

type Store = RateLimitStore["Service"]

/** Callback for each caller whose state is stored for the first time. */
export type OnStored = (caller: string) => void

/** Maximum milliseconds that a statement waits for a locked row before its requests move to separate queues. */
const MAX_LOCK_WAIT_MS = 100

/** Maximum number of connections for the queues of single callers, whose statements may wait for locked rows. */
const MAX_WAITING = 4

/**
 * Creates `consumeMany`. If a row stays locked, the requests of the statement move to separate queues, one for each
 * caller. Then only the requests from the locked caller wait, until their deadlines; its later requests join the same
 * queue.
 */
export const consumeMany = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  call: SqlCall.SqlCall,
  { clock, timeoutMs }: Pick<SqlOptions, "clock" | "timeoutMs">,
  onStored: OnStored
): Effect.fn.Return<NonNullable<Store["consumeMany"]>> {
  const lockTimeout = `${Math.max(1, Math.min(MAX_LOCK_WAIT_MS, Math.floor(timeoutMs / 4)))}ms`
  const shared = yield* PostgresBatch.make<RateLimitStep.Request, RateLimitStep.Counted>({
    // A request may then count twice, as it does if its client repeats it after a 503.
    isRepeatable: true,
    statement: (requests) => count(sql, requests, lockTimeout)
  })
  const connections = Semaphore.makeUnsafe(MAX_WAITING)
  const runSync = Effect.runSyncWith(yield* Effect.context<never>())
  const callerQueues = KeyedQueues.make<RateLimitStep.Request, RateLimitStep.Counted, SqlError>({
    keyOf: ({ key }) => key,
    create: (onIdle) =>
      runSync(
        PostgresBatch.make(
          {
            concurrency: 1,
            isRepeatable: true,
            // Releases its connection after each lock timeout, so that callers whose rows are not locked can use it.
            statement: (requests) =>
              Effect.retry(connections.withPermit(count(sql, requests, lockTimeout)), { while: isLocked })
          },
          onIdle
        )
      )
  })

  const submit: PostgresBatch.Submit<RateLimitStep.Request, RateLimitStep.Counted> = (request, done) => {
    if (callerQueues.has(request.key)) return callerQueues.submit(request, done)
    let withdraw = shared(request, (exit) => {
      const error = Exit.isFailure(exit) ? exit.cause.reasons.find(Cause.isFailReason)?.error : undefined
      if (error !== undefined && isLocked(error)) withdraw = callerQueues.submit(request, done)
      else done(exit)
    })
    return () => withdraw()
  }

  return (key, now, policy, cost) =>
    Effect.map(
      call.submit<RateLimitStep.Counted>((done) =>
        submit({ key, now: clock === "service" ? now : null, policy, cost }, done)
      ),
      ({ isNew, verdict }) => {
        if (isNew) onStored(key)
        return verdict
      }
    )
})

const isLocked = ({ reason }: SqlError): boolean =>
  reason._tag === "LockTimeoutError" || reason._tag === "DeadlockError"

const count = (
  sql: SqlClient.SqlClient,
  requests: ReadonlyArray<RateLimitStep.Request>,
  lockTimeout: string
): Effect.Effect<ReadonlyArray<() => RateLimitStep.Counted>, SqlError> => {
  const ban = requests.find(({ policy }) => policy.ban !== undefined)?.policy.ban
  // A service has one ban policy; requests with different ones cannot share a statement.
  if (requests.some(({ policy }) => (policy.ban ?? ban) !== ban))
    return Effect.map(
      Effect.forEach(requests, (request) => count(sql, [request], lockTimeout)),
      (counted) => counted.flat()
    )
  const [statement, parameters] = RateLimitStep.statementFor(requests, ban, lockTimeout)
  return Effect.map(sql.unsafe(statement, parameters).values, (rows) => {
    const byNth = new Map(rows.map((row) => [row[RateLimitStep.NTH], row]))
    return requests.map((request, index) => () => RateLimitStep.countedOf(byNth.get(index + 1), request))
  })
}

/** Counts no request: fails if the function that counts is missing. */
export const countNone = (sql: SqlClient.SqlClient): Effect.Effect<unknown, SqlError> =>
  count(sql, [], `${MAX_LOCK_WAIT_MS}ms`)
