/** Laws about every operation with every query, `Accept`, caller and animal (contract §4, §5, §8). */
import * as Effect from "effect/Effect"
import * as PetStatus from "../../../core/domain/PetStatus.ts"
import * as Accepts from "../../dimensions/Accepts.ts"
import * as Operations from "../../dimensions/Operations.ts"
import * as Product from "../../dimensions/Product.ts"
import * as Queries from "../../dimensions/Queries.ts"
import type { Http } from "../../evaluation/Http.ts"
import { expect, type Failure, inapplicable, undecided } from "../../evaluation/Outcome.ts"
import type { Trial } from "../../evaluation/Trial.ts"
import type { Exchange } from "../../http/Exchange.ts"
import * as RateHeaders from "../../http/RateHeaders.ts"
import { REMOVAL_BEGINS } from "../../http/Removal.ts"
import { outcome } from "../../subjects/Conversation.ts"
import { type Check, family } from "../Check.ts"
import * as Creations from "../http/Creations.ts"
import * as Credentials from "../http/Credentials.ts"
import * as Responses from "../http/Responses.ts"
import * as Calls from "./Calls.ts"
import * as Envelope from "./Envelope.ts"
import { isDenied, REFILL_MS } from "./SmallKeys.ts"

const lists = Product.of({
  method: { GET: "list animals", HEAD: "HEAD of the list" },
  query: Queries.queries,
  accept: Accepts.accepts
})

const accepted = Product.of({
  operation: Operations.operations,
  accept: Accepts.accepts,
  query: Product.pick(Queries.queries, "no query", "an unknown parameter", "limit alone")
})

const priced = Product.of({ operation: Operations.operations, accept: Accepts.accepts })

/** Requests that succeed for any key, with every query that the contract describes. */
const successes = Product.of(
  {
    operation: Product.pick(Operations.operations, "list animals", "create an animal", "get a new animal"),
    query: Product.pick(Queries.queries, "no query", "limit alone", "status alone", "limit, then status")
  },
  ({ operation = "list animals", query = "no query" }) => operation === "list animals" || query === "no query"
)

/** Maximum per-minute limit of a plan that a law uses up. */
const MAX_PER_MINUTE = 20

/** Maximum number of requests admitted within `ms`: those of two windows, and those that a bucket then regains. */
const maxAdmitted = (perMinute: number, ms: number): number =>
  2 * perMinute + Math.ceil((ms * perMinute) / 60_000)

/** Minimum number of animals of each status: more than the smallest limits of the queries. */
const STOCK = 3

/** Creates animals until the run has created `STOCK` of each status. */
const stock = Effect.fnUntraced(function* (http: Http, trial: Trial): Effect.fn.Return<void, Failure> {
  const created = http.created()
  for (const status of PetStatus.all) {
    const missing = STOCK - created.filter((animal) => animal.status === status).length
    for (let more = 0; more < missing; more++) yield* Creations.createOwn(http, trial, status)
  }
})

/** Callers without a valid key, by the credential that they send. */
const callers = Product.pick(
  Credentials.credentials,
  "no credential",
  "a key that was never issued",
  "the key with another last character",
  "the key without its last character",
  "the key and one more character",
  "the key as Basic",
  "the key without a scheme",
  "an empty token"
)

const unauthorized = Product.of({
  operation: Operations.operations,
  credential: callers,
  query: Queries.queries,
  accept: Accepts.accepts
})

/** Sends the cheapest request, whose response shows Remaining. */
const sendCheapest = (http: Http): Effect.Effect<Exchange, Failure> => http.send({ path: "/pets?limit=1" })

/** Maximum difference in seconds between two values of Reset that show the same window. */
const SAME_WINDOW_S = 45

/** Maximum number of attempts; one is repeated if a window ended during it. */
const ATTEMPTS = 3

/** Returns by how much Remaining fell between two successes; `undefined` if they do not show the same window. */
const costBetween = (before: Exchange, after: Exchange): number | undefined => {
  const [first, last] = [RateHeaders.of(before.response), RateHeaders.of(after.response)]
  const isSame =
    first !== undefined &&
    last !== undefined &&
    before.response.status === 200 &&
    after.response.status === 200 &&
    first.limit === last.limit &&
    Math.abs(first.resetAt - last.resetAt) < SAME_WINDOW_S
  return isSame ? first.remaining - last.remaining : undefined
}

const spec = family({ level: "spec", on: "http" })

export const checks: ReadonlyArray<Check> = [
  spec({
    id: "product.list",
    law: "A list has the requested limit and status, whatever the order of its parameters and the Accept header.",
    clauses: [
      "list.status-200",
      "list.array",
      ...Calls.listClauses,
      "list.limit.maximum-returned",
      "list.limit.default",
      "list.status.accepted",
      "list.limit.accepted",
      ...Envelope.clauses
    ],
    profile: "core",
    requests: 51,
    product: lists.shape,
    examples: lists.examples,
    *holds(http, { accept, method, query }, trial) {
      yield* stock(http, trial)
      const operation = method === "GET" ? "list animals" : "HEAD of the list"
      const prepared = yield* Calls.prepare(http, trial, { operation, query, accept })
      const exchange = yield* http.send(prepared.sent)
      yield* Envelope.check(exchange)
      yield* Calls.expectAccepted(exchange, prepared)
      trial.tried({ accept, method, query })
    }
  }),
  spec({
    id: "product.request",
    law: "Each operation sends the promised response, whatever the query, the Accept header and the animal.",
    clauses: [
      "list.status-200",
      "create.status-201",
      "create.status-kept",
      "get.found",
      "get.faithful",
      "get.not-found",
      ...Calls.listClauses,
      ...Envelope.clauses
    ],
    profile: "core",
    requests: 57,
    product: accepted.shape,
    examples: accepted.examples,
    cases: accepted.cases,
    runs: { port: 0, http: 3 },
    *holds(http, call, trial) {
      const prepared = yield* Calls.prepare(http, trial, call)
      const exchange = yield* http.send(prepared.sent)
      yield* Envelope.check(exchange)
      yield* Calls.expectAccepted(exchange, prepared)
      trial.tried(call)
    }
  }),
  spec({
    id: "product.unauthorized",
    law: "Each operation rejects a request without a valid key with 401, whatever the query and the Accept header.",
    clauses: [
      "auth.required",
      "auth.invalid",
      "auth.every-operation",
      "auth.error-body",
      "limits.headers-present"
    ],
    profile: "auth",
    requests: 80,
    product: unauthorized.shape,
    examples: unauthorized.examples,
    *holds(http, call, trial) {
      const prepared = yield* Calls.prepare(http, trial, call)
      const fields = yield* Credentials.fieldsOf(call.credential, http)
      const exchange = yield* Responses.sendWithoutKey(http, { ...prepared.sent, ...fields })
      yield* Envelope.check(exchange)
      yield* Calls.expectUnauthorized(exchange, prepared)
      trial.tried(call)
    }
  }),
  spec({
    id: "product.cost",
    law: "No request costs more than one, whatever its operation, Accept header and response.",
    clauses: ["limits.remaining-truth"],
    profile: "limits",
    requests: 150,
    product: priced.shape,
    examples: priced.examples,
    *holds(http, call, trial) {
      const prepared = yield* Calls.prepare(http, trial, call)
      const attempt: Effect.Effect<number | undefined, Failure> = Effect.gen(function* () {
        const before = yield* sendCheapest(http)
        yield* http.send(prepared.sent)
        return costBetween(before, yield* sendCheapest(http))
      })
      let cost: number | undefined
      for (let tries = 0; cost === undefined && tries < ATTEMPTS; tries++) cost = yield* attempt
      if (cost === undefined) return yield* undecided("a window of the main key ended in each attempt")
      // The second cheapest request also costs one.
      yield* expect(cost <= 2, "a request that costs at most one", `Remaining fell by ${cost - 1}`)
      trial.tried(call)
    }
  }),
  spec({
    id: "product.counted",
    law: "Each successful operation counts against the per-minute limit, whatever its query, and works again after a denial.",
    clauses: [
      "limits.per-minute",
      "list.status-200",
      "create.status-201",
      "create.returns-created",
      "get.found",
      ...Calls.listClauses
    ],
    profile: "limits",
    needs: ["clock", "tinyPlan"],
    requests: 56,
    product: successes.shape,
    examples: successes.examples,
    *holds(http, call, trial) {
      const { perMinute } = http.facts.tinyPlan ?? { perMinute: 0 }
      if (perMinute > MAX_PER_MINUTE)
        return yield* inapplicable("the small key has too many requests per minute")
      const prepared = yield* Calls.prepare(http, trial, call)
      yield* http.advance(REFILL_MS)
      let startedAt: number | undefined
      let admitted: number | undefined
      for (let sent = 1; sent <= 3 * perMinute + 1; sent++) {
        const { receivedAt, response, sentAt } = yield* http.send({ ...prepared.sent, key: "tiny" })
        startedAt ??= sentAt
        admitted ??= response.status
        if (response.status === 429 && sent === 1) {
          return yield* inapplicable("the small key is denied after a day without requests")
        }
        if (response.status === 429) {
          yield* http.advance(REFILL_MS)
          const again = yield* Calls.prepare(http, trial, call)
          const afterwards = yield* http.send({ ...again.sent, key: "tiny" })
          // The denial may have been a strike, and the contract does not specify how long a ban lasts.
          if (!isDenied(afterwards)) {
            yield* Calls.expectAccepted(afterwards, again)
            // A retrieval may get 404 if each key has its own catalogue, but not after a 200.
            yield* expect(
              afterwards.response.status === admitted || afterwards.receivedAt >= REMOVAL_BEGINS,
              `${admitted} to ${afterwards.did ?? call.operation}, as before the denial`,
              outcome(afterwards.response),
              "get.found"
            )
          }
          return trial.tried(call)
        }
        if (response.status >= 300) {
          return yield* inapplicable(`the small key gets ${outcome(response)}, which need not be counted`)
        }
        const max = maxAdmitted(perMinute, receivedAt - startedAt)
        yield* expect(
          sent <= max,
          `429 within ${max + 1} requests (${call.operation}, ${call.query})`,
          "no 429"
        )
      }
      yield* inapplicable("responses take so long that the per-minute limit is not reached")
    }
  })
]
