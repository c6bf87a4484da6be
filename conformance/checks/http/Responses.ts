/** Checks the status and the body of single responses. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Http, Sent } from "../../evaluation/Http.ts"
import { expect, type Failure, undecided, Violation } from "../../evaluation/Outcome.ts"
import type { Animal } from "../../http/Animal.ts"
import * as ErrorBody from "../../http/ErrorBody.ts"
import type { Exchange } from "../../http/Exchange.ts"
import * as PetJson from "../../http/PetJson.ts"
import * as RateHeaders from "../../http/RateHeaders.ts"
import { text } from "../../http/Wire.ts"
import { outcome } from "../../subjects/Conversation.ts"

/** Fails unless the response has this status. */
export const expectStatus = ({ response }: Exchange, status: number): Effect.Effect<void, Violation> =>
  expect(response.status === status, String(status), outcome(response))

/** Returns the animal in a response; fails unless the response has this status and an animal. */
export const petOf = ({ response }: Exchange, status: 200 | 201): Effect.Effect<Animal, Violation> => {
  const read =
    response.status === status
      ? Result.flatMap(PetJson.parse(text(response.body)), PetJson.animal)
      : Result.fail(outcome(response))
  return Effect.mapError(
    Effect.fromResult(read),
    (actual) => new Violation({ expected: `${status} with the Pet`, actual })
  )
}

/** The expected error: one of these statuses, or any from 400 to 499, and the code, if any. */
export interface Rejection {
  readonly status: ReadonlyArray<number> | "4xx"
  readonly code?: string | undefined
}

/** Returns the Error in a response; fails unless the response is the expected rejection. */
export const expectRejection = (
  { response }: Exchange,
  { code, status }: Rejection
): Effect.Effect<ErrorBody.ErrorBody, Violation> => {
  const isExpectedStatus =
    status === "4xx" ? response.status >= 400 && response.status <= 499 : status.includes(response.status)
  const read = ErrorBody.of(response)
  if (isExpectedStatus && Result.isSuccess(read) && (code === undefined || read.success.code === code)) {
    return Effect.succeed(read.success)
  }
  const wanted = status === "4xx" ? "4xx" : status.join(" or ")
  return Effect.fail(
    new Violation({
      expected: `${wanted} with an Error body${code === undefined ? "" : ` of code ${code}`}`,
      actual:
        isExpectedStatus && Result.isFailure(read)
          ? `${response.status} where ${read.failure}`
          : outcome(response)
    })
  )
}

/** Sends a request; fails unless it gets the expected rejection. */
export const sendInvalid = (http: Http, sent: Sent, rejection: Rejection): Effect.Effect<void, Failure> =>
  Effect.flatMap(http.send(sent), (exchange) => Effect.asVoid(expectRejection(exchange, rejection)))

/** Maximum Retry-After in seconds for which a request without a key waits, if time cannot be moved. */
const SHORT_WAIT = 3

/**
 * Sends a request without a valid key; after a 429 waits and retries. Fails with `Undecided` at the third 429, or if
 * the wait is longer than `SHORT_WAIT` and time cannot be moved.
 */
export const sendWithoutKey = Effect.fnUntraced(function* (
  http: Http,
  sent: Sent
): Effect.fn.Return<Exchange, Failure> {
  for (let waits = 0; waits < 3; waits++) {
    const exchange = yield* http.send({ key: "none", ...sent })
    if (exchange.response.status !== 429) return exchange
    const seconds = RateHeaders.retryAfterSeconds(exchange) ?? 60
    if (!http.facts.hasClock && seconds > SHORT_WAIT) break
    yield* http.advance((seconds + 1) * 1_000)
  }
  return yield* undecided(
    "callers without a valid key are over their limit: a clock that can be moved (--clock URL) helps"
  )
})

/** Sends a request without a valid key; fails unless it is rejected with 401 and an Error body. */
export const sendUnauthorized = (http: Http, sent: Sent, code?: string): Effect.Effect<void, Failure> =>
  Effect.flatMap(sendWithoutKey(http, sent), (exchange) =>
    Effect.asVoid(expectRejection(exchange, { status: [401], code }))
  )
