/** What laws about answers say again and again. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { PetStatus } from "../../../core/domain/PetStatus.ts"
import { type Failure, undecided, Violation } from "../../engine/Outcome.ts"
import type { Trial } from "../../engine/Trial.ts"
import { outcome } from "../../http/Conversation.ts"
import * as ErrorBody from "../../http/ErrorBody.ts"
import type { Exchange } from "../../http/Exchange.ts"
import * as PetJson from "../../http/PetJson.ts"
import * as RateHeaders from "../../http/RateHeaders.ts"
import { text } from "../../http/Wire.ts"
import type { Animal } from "../Catalogue.ts"
import type { Http, Sent } from "../Http.ts"

/** Fails unless the answer has this status. */
export const hasStatus = ({ response }: Exchange, status: number): Effect.Effect<void, Violation> =>
  response.status === status
    ? Effect.void
    : Effect.fail(new Violation({ expected: String(status), actual: outcome(response) }))

/** The animal that an answer of this status carries. */
export const pet = ({ response }: Exchange, status: 200 | 201): Effect.Effect<Animal, Violation> => {
  const read =
    response.status === status
      ? Result.flatMap(PetJson.parse(text(response.body)), PetJson.animal)
      : Result.fail(outcome(response))
  return Effect.mapError(
    Effect.fromResult(read),
    (actual) => new Violation({ expected: `${status} with the Pet`, actual })
  )
}

/** What an error has to be: of one of these statuses, or of any from 400 to 499; of this code, if any. */
export interface Refusal {
  readonly status: ReadonlyArray<number> | "4xx"
  readonly code?: string | undefined
}

/** The Error of an answer that refuses. */
export const refused = (
  { response }: Exchange,
  { code, status }: Refusal
): Effect.Effect<ErrorBody.ErrorBody, Violation> => {
  const fits =
    status === "4xx" ? response.status >= 400 && response.status <= 499 : status.includes(response.status)
  const read = ErrorBody.of(response)
  if (fits && Result.isSuccess(read) && (code === undefined || read.success.code === code)) {
    return Effect.succeed(read.success)
  }
  const wanted = status === "4xx" ? "4xx" : status.join(" or ")
  return Effect.fail(
    new Violation({
      expected: `${wanted} with an Error body${code === undefined ? "" : ` of code ${code}`}`,
      actual: fits && Result.isFailure(read) ? `${response.status} where ${read.failure}` : outcome(response)
    })
  )
}

/** Longest wait for the limit of callers without a key where time cannot be moved, in seconds. */
const SHORT_WAIT = 3

/** Sends a request without a valid key; waits for the small limit that such callers may have. */
export const sendUnknown = Effect.fnUntraced(function* (
  http: Http,
  sent: Sent
): Effect.fn.Return<Exchange, Failure> {
  for (let waits = 0; waits < 3; waits++) {
    const exchange = yield* http.send({ key: "none", ...sent })
    if (exchange.response.status !== 429) return exchange
    const seconds = RateHeaders.retryAfterSeconds(exchange.response, exchange.receivedAt) ?? 60
    if (!http.facts.hasClock && seconds > SHORT_WAIT) break
    yield* http.pass((seconds + 1) * 1_000)
  }
  return yield* undecided(
    "callers without a valid key are over their limit: a clock that can be moved (--clock URL) helps"
  )
})

/** 401 with an Error body to a request without a valid key. */
export const unauthorized = (http: Http, sent: Sent, code?: string): Effect.Effect<Exchange, Failure> =>
  Effect.tap(sendUnknown(http, sent), (exchange) => refused(exchange, { status: [401], code }))

/** A category that the subject accepts. */
export const categoryOf = ({ facts }: Http, wanted = 1n): bigint =>
  facts.categories === "any" ? wanted : (facts.categories[0] ?? wanted)

/** An animal of this evaluation's own. */
export const own = (http: Http, trial: Trial, status?: PetStatus): Effect.Effect<Animal, Failure> =>
  http.create({ name: trial.name(), categoryId: categoryOf(http), status })

/** A template's body: `$name` is a new name of the trial, `$category` a category that the subject accepts. */
export const filled = (template: string, http: Http, trial: Trial): string =>
  template.replaceAll("$name", () => trial.name()).replaceAll("$category", String(categoryOf(http)))

/** A creation with this body, sent as JSON. */
export const creation = (body: string | Uint8Array): Sent =>
  typeof body === "string"
    ? { method: "POST", path: "/pets", json: body }
    : { method: "POST", path: "/pets", headers: [["Content-Type", "application/json"]], body }

/** A body that every implementation accepts. */
export const plain = '{"name":"$name","categoryId":$category}'
