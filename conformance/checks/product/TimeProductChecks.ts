/** Laws about every operation at the edges of time, after bans and after the removal of getPet (contract §8, §9). */
import * as Effect from "effect/Effect"
import * as Accepts from "../../dimensions/Accepts.ts"
import * as Operations from "../../dimensions/Operations.ts"
import * as Product from "../../dimensions/Product.ts"
import * as Queries from "../../dimensions/Queries.ts"
import * as Times from "../../dimensions/Times.ts"
import type { Http } from "../../evaluation/Http.ts"
import { type Failure, inapplicable } from "../../evaluation/Outcome.ts"
import type { Trial } from "../../evaluation/Trial.ts"
import { REMOVAL_BEGINS, REMOVAL_OVER } from "../../subjects/HttpCatalogue.ts"
import { type Check, family } from "../Check.ts"
import * as Calls from "./Calls.ts"
import * as Envelope from "./Envelope.ts"

/** Ms in which any window of a minute passes. */
const MINUTE_PASSED = 61_000

const atTimes = Product.of({
  time: Times.times,
  operation: Operations.operations,
  accept: Accepts.accepts,
  key: { main: "main", tiny: "tiny" }
})

const afterRemoval = Product.of({
  operation: Operations.operations,
  accept: Accepts.accepts,
  query: Queries.some("no query", "status alone", "an unknown parameter")
})

/** Moves the subject's time forward to a moment. */
const until = (http: Http, moment: number): Effect.Effect<void, Failure> =>
  Effect.flatMap(http.now, (now) => (now < moment ? http.pass(moment - now) : Effect.void))

/** Sends the call with the key; the response must be the promised one, unless the key was denied. */
const sendAt = Effect.fnUntraced(function* (
  http: Http,
  trial: Trial,
  call: (typeof atTimes.examples)[number]
) {
  const prepared = yield* Calls.prepare(http, trial, call)
  const exchange = yield* http.send({ ...prepared.sent, key: call.key })
  yield* Envelope.holds(exchange)
  // The small key may have used up its minute.
  if (exchange.response.status === 429) return
  yield* Calls.accepted(exchange, prepared)
  trial.tried(call)
})

const design = family({ level: "design", on: "http", needs: ["clock"] })
const spec = family({ level: "spec", on: "http", needs: ["clock"] })

export const checks: ReadonlyArray<Check> = [
  design<{ readonly time: Times.TimeName }>({
    id: "product.time",
    law: "Each operation works with each key at the edges of seconds, minutes, days, months and years.",
    clauses: [
      "limits.headers-present",
      "limits.reset-ahead",
      "limits.reset-not-past",
      "list.status-200",
      "create.status-201",
      "get.found",
      "errors.no-5xx"
    ],
    profile: "limits",
    needs: ["clock", "tinyPlan"],
    requests: 99,
    product: atTimes.shape,
    examples: atTimes.shape.values.time?.map((time) => ({ time: time as Times.TimeName })) ?? [],
    *holds(http, { time }, trial) {
      const { follows, next } = Times.times[time]
      // The window of the small key must be free.
      if (!follows) yield* http.pass(MINUTE_PASSED)
      const moment = next(yield* http.now)
      if (moment >= REMOVAL_BEGINS) {
        return yield* inapplicable(`getPet is removed before the next moment "${time}"`)
      }
      yield* until(http, moment)
      for (const call of atTimes.examples.filter((one) => one.time === time)) {
        yield* sendAt(http, trial, call)
      }
    }
  })
]

/** Laws that move time beyond the removal of getPet, so that they come last. */
export const closing: ReadonlyArray<Check> = [
  spec({
    id: "product.removed",
    law: "After the removal each operation but getPet works as before, whatever the query and the Accept header.",
    clauses: ["get.removed", "get.removed-alone", "limits.headers-present", "errors.body"],
    profile: "deprecation",
    requests: 54,
    product: afterRemoval.shape,
    examples: afterRemoval.examples,
    *holds(http, call, trial) {
      yield* until(http, REMOVAL_OVER)
      const prepared = yield* Calls.prepare(http, trial, call)
      const exchange = yield* http.send(prepared.sent)
      yield* Envelope.holds(exchange)
      yield* Calls.accepted(exchange, prepared)
      trial.tried(call)
    }
  })
]
