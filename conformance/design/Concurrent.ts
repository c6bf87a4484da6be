/** Requests in flight at the same time take effect one after the other, in an order that explains every response (design of §4). */
import * as Result from "effect/Result"
import type { Animal } from "../http/Animal.ts"
import * as PetJson from "../http/PetJson.ts"
import { text } from "../http/Wire.ts"
import * as Linearizability from "../linearizability/Linearizability.ts"
import { broken, kept, type Ruling } from "../model/Exchange.ts"
import type { Seen } from "../model/Seen.ts"

/** The new animals that a request creates, or those that it would show if they exist. */
type Call = { readonly creates: bigint } | { readonly wants: ReadonlyArray<bigint> }

/** Which of the new animals exist. */
const catalogue: Linearizability.Model<ReadonlySet<bigint>, Call, ReadonlyArray<bigint>> = {
  initial: new Set(),
  step: (existing, call, shown) => {
    if ("creates" in call) return new Set([...existing, call.creates])
    return call.wants.every((id) => existing.has(id) === shown?.includes(id)) ? existing : undefined
  },
  key: (existing) => [...existing].toSorted().join()
}

/** Maximum number of states of a search. */
const MAX_STATES = 20_000

/** Rules on requests that were in flight together. */
export const judge = (group: ReadonlyArray<Seen>): ReadonlyArray<Ruling> => {
  const created = group.flatMap(({ exchange }) => PetJson.createdBy(exchange) ?? [])
  const history = group.flatMap((seen) => {
    const call = callOf(seen, created)
    if (call === undefined || ("wants" in call && call.wants.length === 0)) return []
    const { exchange } = seen
    // The order of events: a response that arrived before the n-th request was sent.
    const completed = { at: (exchange.until ?? Number.POSITIVE_INFINITY) - 0.5, output: idsIn(exchange) }
    return [{ input: call, invokedAt: exchange.index, completed }]
  })
  if (created.length === 0 || history.every(({ input }) => "creates" in input)) return []
  const verdict = Linearizability.check(catalogue, history, MAX_STATES)
  if (verdict._tag === "Unknown") return []
  if (verdict._tag === "Linearizable") return [kept("resources.linearizable")]
  const expected = "an order of the requests at the same time that explains each response"
  return [broken("resources.linearizable", expected, "none", ...group.map(({ exchange }) => exchange))]
}

/** Returns what a request does with the new animals; `undefined` if its response need not show them. */
const callOf = ({ asked, exchange, status }: Seen, created: ReadonlyArray<Animal>): Call | undefined => {
  const { isPlain, operation } = asked
  if (!isPlain) return undefined
  if (operation.is === "create") {
    const id = PetJson.createdBy(exchange)?.id
    return id === undefined ? undefined : { creates: id }
  }
  if (operation.is === "get")
    return status === 200 || status === 404
      ? { wants: created.flatMap(({ id }) => (id === operation.id ? [id] : [])) }
      : undefined
  if (operation.is !== "list" || status !== 200 || operation.hasOthers) return undefined
  const { limit, status: filter } = operation
  if (limit.is !== "valid" || filter.is === "open" || idsIn(exchange).length >= limit.value) return undefined
  const wanted = created.filter((animal) => filter.is === "absent" || filter.value === animal.status)
  return { wants: wanted.map(({ id }) => id) }
}

/** Returns the ids of the animals in a response: of a list, or of one animal. */
const idsIn = ({ response }: Seen["exchange"]): ReadonlyArray<bigint> => {
  const parsed = PetJson.parse(text(response.body))
  const one = Result.map(Result.flatMap(parsed, PetJson.animal), (animal) => [animal])
  const all = Result.orElse(Result.flatMap(parsed, PetJson.animals), () => one)
  return Result.getOrElse(all, () => []).map(({ id }) => id)
}
