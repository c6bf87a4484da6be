/** Writes log lines about requests, each with the id that the client gets in `X-Request-Id`. */
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type { ApiKey } from "../access/ApiKey.ts"
import type { ApiError } from "../errors/ApiError.ts"
import type { StoreUnavailable } from "../errors/StoreUnavailable.ts"
import type { Change } from "./StoreOutage.ts"

/** Logs a store failure and its consequence, such as "503 service_unavailable". */
export const storeFailure = (
  consequence: string,
  failure: StoreUnavailable,
  requestId: string
): Effect.Effect<void> => about(Effect.logWarning(consequence, failure), requestId)

/** Logs that the host rejected a request, because it holds too many bytes of others. */
export const hostBusy = (requestId: string): Effect.Effect<void> =>
  about(Effect.logWarning("503 too many bytes in flight"), requestId)

/** Logs a defect, which is a bug in the service or an adapter. */
export const defect = (cause: Cause.Cause<unknown>, requestId: string): Effect.Effect<void> =>
  about(Effect.logError("500 internal_error", cause), requestId)

/** Logs that an operation failed with a code that operations cannot have. */
export const undeclaredCode = ({ code, message }: ApiError, requestId: string): Effect.Effect<void> =>
  about(
    Effect.annotateLogs(Effect.logError("500 internal_error: undeclared error code"), { code, message }),
    requestId
  )

/** Logs a ban that a request began; `until` is in epoch milliseconds. */
export const ban = ({ id, plan }: ApiKey, until: number, requestId: string): Effect.Effect<void> =>
  Effect.annotateLogs(Effect.logWarning("key banned"), {
    key: id,
    plan,
    until: new Date(until).toISOString(),
    request: requestId
  })

/** Logs that the database became unavailable or available again, and the request that detected it. */
export const outage = (change: Change, requestId: string): Effect.Effect<void> =>
  change._tag === "Began"
    ? about(Effect.logError("database unavailable"), requestId)
    : Effect.annotateLogs(
        about(Effect.logInfo("database available again"), requestId),
        "afterMs",
        change.afterMs
      )

const about = (line: Effect.Effect<void>, requestId: string): Effect.Effect<void> =>
  Effect.annotateLogs(line, "request", requestId)
