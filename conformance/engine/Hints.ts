/** Adds to a violation what the laws do not tell, but a person must know to understand it. */
import * as Effect from "effect/Effect"
import type { Exchange } from "../model/Exchange.ts"
import type { HttpTarget } from "../subjects/HttpSubject.ts"
import type { History } from "./History.ts"

/** Returns the history with what else the run and the server show; `all` are the exchanges of the run. */
export const added = Effect.fnUntraced(function* (
  history: History,
  all: ReadonlyArray<Exchange>,
  target: HttpTarget
): Effect.fn.Return<History> {
  const { exchanges, violation } = history
  const before = sameBefore(history, all)
  let { actual } = violation
  if (before !== undefined) actual += ": the same response as in step 1"
  if (yield* isOfConnection(violation.clause, exchanges, target))
    actual += ": only on a connection that sent a valid key before"
  return { violation: { ...violation, actual }, exchanges: [before ?? [], exchanges].flat() }
})

/** Returns an earlier request like the last one that got the same response, although an animal has appeared between. */
const sameBefore = (
  { exchanges, violation }: History,
  all: ReadonlyArray<Exchange>
): Exchange | undefined => {
  const [first, last] = [exchanges[0], exchanges.at(-1)]
  if (!/ in the list$/.test(violation.expected) || first === undefined) return undefined
  return all.findLast(
    ({ index, request, response }) =>
      index < first.index &&
      request.method === "GET" &&
      request.target === last?.request.target &&
      Buffer.from(response?.body ?? []).equals(last.response?.body ?? new Uint8Array())
  )
}

const FREE_MS = 20

/** Whether a server that accepts a request without a valid key rejects it on a connection of its own. */
const isOfConnection = Effect.fnUntraced(function* (
  clause: string,
  exchanges: ReadonlyArray<Exchange>,
  { basePath, keys, transport }: HttpTarget
) {
  const { request, response } = exchanges.at(-1) ?? {}
  if (!clause.startsWith("auth.") || request?.method !== "GET" || response?.status !== 200) return false
  const statusOf = (sent: typeof request) =>
    Effect.orElseSucceed(
      Effect.map(transport(sent), ({ status }) => status),
      () => 0
    )
  // Callers without a key may have a limit of their own.
  if (![401, 429].includes(yield* statusOf({ ...request, isAlone: true }))) return false
  const headers = [["Authorization", `Bearer ${keys.main}`]] as const
  yield* statusOf({ method: "GET", target: `${basePath}/pets?limit=1`, headers, body: undefined })
  // A connection is free only some time after its response.
  return (yield* Effect.delay(statusOf(request), FREE_MS)) === response?.status
})
