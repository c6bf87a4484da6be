/** Adds to a violation what the laws do not tell, but a person must know to understand it. */
import * as Effect from "effect/Effect"
import type { Exchange, Violation } from "../model/Exchange.ts"
import type { HttpTarget } from "../subjects/HttpSubject.ts"
import { type History, isCounted } from "./History.ts"

type Judge = (exchanges: ReadonlyArray<Exchange>) => ReadonlyArray<Violation>

/** Returns the history with what else the run and the server show; `all` are the exchanges of the run. */
export const added = Effect.fnUntraced(function* (
  history: History,
  all: ReadonlyArray<Exchange>,
  target: HttpTarget,
  judgeAll: Judge
): Effect.fn.Return<History> {
  const { exchanges, violation } = history
  const before = sameBefore(history, all)
  let { actual } = violation
  if (before !== undefined) actual += ": the same response as in step 1"
  if (yield* isPassing(history, target, judgeAll))
    actual += ": but not when the request is sent again by itself"
  return { violation: { ...violation, actual }, exchanges: [before ?? [], exchanges].flat() }
})

/** Returns an earlier request like the last one that got the same response, although an animal has appeared between. */
const sameBefore = (
  { exchanges, violation }: History,
  all: ReadonlyArray<Exchange>
): Exchange | undefined => {
  const [first, last] = [exchanges[0], exchanges.at(-1)]
  if (!/^animal .* in the list$/.test(violation.expected) || first === undefined) return undefined
  return all.findLast(
    ({ index, request, response }) =>
      index < first.index &&
      request.method === "GET" &&
      request.target === last?.request.target &&
      // The animals may have another status than the responses show.
      !request.target.includes("status=") &&
      Buffer.from(response?.body ?? []).equals(last.response?.body ?? new Uint8Array())
  )
}

/** Whether a violation of one request depends on what came before: by itself, the server responds as it must. */
const isPassing = Effect.fnUntraced(function* (
  { exchanges, violation }: History,
  { basePath, transport }: HttpTarget,
  judgeAll: Judge
) {
  const [only, ...others] = exchanges
  if (only?.request.method !== "GET" || others.length > 0 || isCounted(violation)) return false
  const isOfKey = violation.clause.startsWith("auth.")
  // Every operation needs a key, but getPet may be removed meanwhile.
  if (!isOfKey && only.request.target.startsWith(`${basePath}/pets/`)) return false
  const request = { ...only.request, isAlone: true }
  const sent = Effect.timeout(transport(request), "1 second")
  const response = yield* Effect.orElseSucceed(sent, () => undefined)
  if (response === undefined || (response.status === 429 && !isOfKey)) return false
  return !judgeAll([{ ...only, request, response }]).some(({ clause }) => clause === violation.clause)
})
