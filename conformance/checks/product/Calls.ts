/** Builds requests of each operation with any query and `Accept`, and checks the responses to them. */
import * as Effect from "effect/Effect"
import { limit as pageLimit } from "../../../core/domain/Page.ts"
import * as Accepts from "../../dimensions/Accepts.ts"
import * as Operations from "../../dimensions/Operations.ts"
import * as Queries from "../../dimensions/Queries.ts"
import type { Http, Sent } from "../../evaluation/Http.ts"
import { expect, type Failure, type Violation } from "../../evaluation/Outcome.ts"
import type { Trial } from "../../evaluation/Trial.ts"
import type { Animal } from "../../http/Animal.ts"
import type { Exchange } from "../../http/Exchange.ts"
import * as PetJson from "../../http/PetJson.ts"
import { REMOVAL_BEGINS, REMOVAL_OVER } from "../../http/Removal.ts"
import { outcome } from "../../subjects/Conversation.ts"
import * as Creations from "../http/Creations.ts"
import * as Lists from "../http/Lists.ts"
import * as Responses from "../http/Responses.ts"

/** A request, given by the names of its parts; without `query` or `accept` it has no query or no `Accept`. */
export interface Call {
  readonly operation: Operations.OperationName
  readonly query?: Queries.QueryName
  readonly accept?: Accepts.AcceptName
}

/** The clauses about lists that `expectAccepted` checks. */
export const listClauses = [...Lists.selectionClauses, "list.faithful"] as const

/** An id that a service has almost certainly not assigned. */
const UNKNOWN_ID = 5_318_008_317_345_021n

/** The template of a body that is invalid only because it has no name. */
const WITHOUT_NAME = '{"categoryId":$category}'

/** A call that is ready to be sent, the animal that it is about, if any, and the values of its parts. */
export interface Prepared {
  readonly sent: Sent
  readonly about: Animal | undefined
  /** The animals that the run has created so far, including `about`, as their creations returned them. */
  readonly created: ReadonlyArray<Animal>
  /** The prefix of all unique names that this run creates. */
  readonly mark: string
  readonly operation: Operations.Operation
  readonly query: Queries.Query
  readonly accept: Accepts.Accept
}

/** Prepares a call with the main key; creates the animal that it is about if necessary. */
export const prepare = Effect.fnUntraced(function* (
  http: Http,
  trial: Trial,
  call: Call
): Effect.fn.Return<Prepared, Failure> {
  const operation: Operations.Operation = Operations.operations[call.operation]
  const query: Queries.Query = Queries.queries[call.query ?? "no query"]
  const accept = Accepts.of(call.accept ?? "no Accept")
  const headers = accept.value === undefined ? [] : ([["Accept", accept.value]] as const)
  const [oldest] = http.created()
  const about =
    operation.about === "first" && oldest !== undefined
      ? oldest
      : operation.about === "new" || operation.about === "first"
        ? yield* Creations.createOwn(http, trial, "sold")
        : undefined
  const path = Operations.namesOneAnimal(operation) ? `/pets/${about?.id ?? UNKNOWN_ID}` : "/pets"
  const template = operation.about === "invalid" ? WITHOUT_NAME : Creations.withStatus('"pending"')
  const body = Creations.fill(template, http, trial)
  const sent: Sent = {
    method: operation.method,
    path: path + query.text,
    headers,
    ...(operation.method === "POST" ? { json: body } : {})
  }
  return { sent, about, created: http.created(), mark: trial.mark, operation, query, accept }
})

/** Returns the statuses with which a server may reject parts of a call that the contract does not describe. */
const openStatuses = ({ accept, operation, query }: Prepared): ReadonlyArray<number> => [
  ...(accept.excludesJson ? [406] : []),
  // Only a list has parameters, and only those that the contract names.
  ...((operation.about !== "list" && query.text !== "") || !query.isKnown ? [400, 422] : []),
  // The contract does not describe HEAD and the service's own operations.
  ...(operation.method === "HEAD" || operation.ownStatus !== undefined ? [400, 404, 405, 501] : [])
]

const isSuccess = ({ response }: Exchange): boolean => response.status < 300

/** Fails unless a response has one of the statuses in `wanted` and `openStatuses`. */
const expectStatus = (exchange: Exchange, prepared: Prepared, wanted: ReadonlyArray<number>) => {
  const allowed = [...new Set([...wanted, ...openStatuses(prepared)])]
  return expect(
    allowed.includes(exchange.response.status),
    `${allowed.join(" or ")} to ${exchange.did ?? exchange.request.target}`,
    outcome(exchange.response)
  )
}

const expectListAsRequested = (
  exchange: Exchange,
  { created, mark, query }: Prepared
): Effect.Effect<void, Violation> =>
  Effect.gen(function* () {
    const animals = yield* Lists.listOf(exchange)
    const limit = query.limit ?? pageLimit.default
    yield* expect(animals.length <= limit, `at most ${limit} animals`, `${animals.length}`)
    const where = exchange.did ?? exchange.request.target
    yield* Lists.expectSelected(animals, query.status, where)
    yield* Lists.expectAgreement(animals, { animals: created, mark }, where)
  })

/** Returns the statuses that the contract allows for a request with a valid key. */
const promisedStatuses = (
  exchange: Exchange,
  { operation: { about, method, ownStatus } }: Prepared
): ReadonlyArray<number> => {
  if (ownStatus !== undefined) return [ownStatus]
  if (about === "list") return [200]
  if (method === "POST") return [about === "valid" ? 201 : 400]
  if (exchange.receivedAt >= REMOVAL_OVER) return [404, 410]
  // The removal may take effect at any time of that day, in any time zone.
  if (exchange.receivedAt >= REMOVAL_BEGINS) return [200, 404, 410]
  if (about === "none") return [404]
  // A server may have a catalogue for each key, and the animal belongs to the main key.
  return exchange.key === "main" ? [200] : [200, 404]
}

/** Fails unless the response to a valid key has a status and a body that the contract allows. */
export const expectAccepted = Effect.fnUntraced(function* (
  exchange: Exchange,
  prepared: Prepared
): Effect.fn.Return<void, Failure> {
  const { about, operation } = prepared
  const { method } = operation
  yield* expectStatus(exchange, prepared, promisedStatuses(exchange, prepared))
  if (method === "HEAD") {
    const { body } = exchange.response
    return yield* expect(body.length === 0, "no body to HEAD", `${body.length} bytes`)
  }
  if (!isSuccess(exchange) || operation.ownStatus !== undefined) return
  if (method === "POST") {
    const animal = yield* Responses.petOf(exchange, 201)
    const [, name, categoryId = ""] =
      /"name":"([^"]*)","categoryId":(-?[0-9]+)/.exec(prepared.sent.json ?? "") ?? []
    yield* expect(
      animal.name === name && String(animal.categoryId) === categoryId && animal.status === "pending",
      `the animal as sent, ${prepared.sent.json ?? ""}`,
      PetJson.line(animal)
    )
  } else if (operation.about === "list") yield* expectListAsRequested(exchange, prepared)
  else if (about !== undefined) {
    const shown = yield* Responses.petOf(exchange, 200)
    yield* expect(
      PetJson.isSameAnimal(shown, about),
      `the animal as created, ${PetJson.line(about)}`,
      PetJson.line(shown)
    )
  }
})

/** Fails unless a caller without a valid key got 401, or another allowed status, with an Error body (not for HEAD). */
export const expectUnauthorized = Effect.fnUntraced(function* (
  exchange: Exchange,
  prepared: Prepared
): Effect.fn.Return<void, Failure> {
  // The contract leaves the order of checks open: an invalid body may be reported first.
  yield* expectStatus(exchange, prepared, prepared.operation.about === "invalid" ? [401, 400] : [401])
  const { response } = exchange
  if (prepared.operation.method !== "HEAD") {
    return yield* Effect.asVoid(Responses.expectRejection(exchange, { status: [response.status] }))
  }
  yield* expect(response.body.length === 0, "no body to HEAD", `${response.body.length} bytes`)
})
