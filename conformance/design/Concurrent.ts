/** Requests in flight at the same time take effect one after the other, in an order that explains every response (design of §4). */
import * as CreatedAnimal from "../http/CreatedAnimal.ts"
import * as PetJson from "../http/PetJson.ts"
import * as Linearizability from "../linearizability/Linearizability.ts"
import { broken, kept, type Ruling } from "../model/Exchange.ts"
import type { Seen } from "../model/Seen.ts"

/** The new animals that a request creates, or that it would show if they exist. */
interface Call {
  readonly creates?: bigint
  readonly wants: ReadonlyArray<bigint>
}

/** Which of the new animals exist. */
const catalogue: Linearizability.Model<ReadonlySet<bigint>, Call, ReadonlyArray<bigint>> = {
  initial: new Set(),
  step: (existing, { creates, wants }, shown) => {
    if (creates !== undefined) return new Set([...existing, creates])
    return wants.every((id) => existing.has(id) === shown?.includes(id)) ? existing : undefined
  },
  key: (existing) => [...existing].toSorted().join()
}

/** Maximum number of states of a search. */
const MAX_STATES = 20_000

/** Rules on requests that were in flight together. */
export const judge = (group: ReadonlyArray<Seen>): ReadonlyArray<Ruling> => {
  const created = new Map(
    group.flatMap(({ exchange }) => {
      const animal = CreatedAnimal.of(exchange)
      return animal === undefined ? [] : [[animal.id, animal.status] as const]
    })
  )
  const history = group.flatMap((seen) => {
    const call = callOf(seen, created)
    if (call === undefined) return []
    const { exchange } = seen
    // The order of events: a response that arrived before the n-th request was sent.
    const completed = { at: (exchange.until ?? Number.POSITIVE_INFINITY) - 0.5, output: shownBy(seen) }
    return [{ input: call, invokedAt: exchange.index, completed }]
  })
  if (created.size === 0 || history.length === created.size) return []
  const verdict = Linearizability.check(catalogue, history, MAX_STATES)
  if (verdict._tag === "Unknown") return []
  if (verdict._tag === "Linearizable") return [kept("resources.linearizable")]
  const expected = "an order of the requests at the same time that explains each response"
  return [broken("resources.linearizable", expected, "none", ...group.map(({ exchange }) => exchange))]
}

/** Returns what a request does with the new animals; `undefined` if its response need not show them. */
const callOf = (
  { asked: { isPlain, operation }, exchange, status }: Seen,
  created: ReadonlyMap<bigint, string | undefined>
): Call | undefined => {
  if (!isPlain) return undefined
  if (operation.is === "create") {
    const id = CreatedAnimal.of(exchange)?.id
    return id === undefined ? undefined : { creates: id, wants: [] }
  }
  if (operation.is === "get" && operation.id !== undefined && created.has(operation.id))
    return status === 200 || status === 404 ? { wants: [operation.id] } : undefined
  if (operation.is !== "list" || status !== 200 || operation.hasOthers) return undefined
  const { limit, status: filter } = operation
  if (
    limit.is !== "valid" ||
    filter.is === "open" ||
    PetJson.listedIn(exchange.response).length >= limit.value
  )
    return undefined
  const isWanted = (given: string | undefined) => filter.is === "absent" || filter.value === given
  return { wants: [...created].flatMap(([id, given]) => (isWanted(given) ? [id] : [])) }
}

const shownBy = ({ asked: { operation }, exchange, status }: Seen): ReadonlyArray<bigint> =>
  operation.is === "get" && operation.id !== undefined && status === 200
    ? [operation.id]
    : PetJson.listedIn(exchange.response).map(({ id }) => id)
