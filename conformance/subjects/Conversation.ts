/**
 * Sends all requests of a run to one subject over HTTP. Records the exchanges with the subject's own time, waits for
 * the subject's limits, and stops at the budget of the run.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Sent } from "../evaluation/Http.ts"
import { type Failure, type Undecided, undecided, Violation } from "../evaluation/Outcome.ts"
import type { Trial } from "../evaluation/Trial.ts"
import * as Excerpt from "../http/Excerpt.ts"
import type { Exchange, KeyName } from "../http/Exchange.ts"
import * as KeptResponse from "../http/KeptResponse.ts"
import * as RateHeaders from "../http/RateHeaders.ts"
import type { ServerClock } from "../http/ServerClock.ts"
import {
  bytes,
  type Header,
  header,
  type NoResponse,
  type Transport,
  type WireRequest,
  type WireResponse
} from "../http/Wire.ts"
import type { Budget } from "./Budget.ts"
import * as SentText from "./SentText.ts"

export interface ConversationOptions {
  readonly transport: Transport
  /** Path before `/pets`, such as `/v1`. */
  readonly basePath: string
  /** The secret of each declared key. */
  readonly secrets: { readonly [name in KeyName]?: string | undefined }
  readonly clock: ServerClock | undefined
  readonly budget: Budget
}

/** Maximum single wait without a clock, in milliseconds: slightly more than a window of a minute. */
const MAX_WAIT_MS = 65_000

const DAY_MS = 86_400_000

/** Maximum single advance of a clock, in milliseconds: far beyond December 2030, but within the range of `Date`. */
const MAX_ADVANCE_MS = 10_000 * DAY_MS

/** Number of consecutive missing responses after which the server counts as unreachable. */
const MAX_MISSING_RESPONSES = 5

/** Maximum number of consecutive 429s that a paced request waits for. */
const MAX_DENIALS = 5

/** Additional wait in milliseconds after Reset, which has whole seconds. */
const RESET_SLACK_MS = 1_000

/** Additional wait in milliseconds after Retry-After, if the run waits in real time. */
const RETRY_SLACK_MS = 250

/** Tolerance in milliseconds if the subject's time comes from `Date`, which has whole seconds. */
const DATE_SLACK_MS = 1_500

/** Tolerance in milliseconds if the clock was read over a connection. */
const CLOCK_SLACK_MS = 100

export interface Conversation {
  readonly exchanges: ReadonlyArray<Exchange>
  /** Sends a request without waiting. */
  readonly send: (sent: Sent, trial: Trial) => Effect.Effect<Exchange, Failure>
  /** Sends a request with the main key: waits for the key's limits, and repeats a request that was denied with 429. */
  readonly sendPaced: (sent: Sent, trial: Trial) => Effect.Effect<Exchange, Failure>
  /** Sends requests concurrently, without waiting. */
  readonly sendConcurrently: (
    sent: ReadonlyArray<Sent>,
    trial: Trial
  ) => Effect.Effect<ReadonlyArray<Exchange>, Failure>
  /** Waits until the main key has at least this number of requests left, according to its headers. */
  readonly reserve: (requests: number) => Effect.Effect<void, Failure>
  /** The subject's time in epoch milliseconds. */
  readonly now: Effect.Effect<number, Failure>
  /** Advances the subject's time by at least `ms` milliseconds: moves its clock, or waits. */
  readonly advance: (ms: number) => Effect.Effect<void, Failure>
  /** Tolerance of the times of exchanges, in milliseconds. */
  readonly slackMs: number
  readonly hasClock: boolean
  /** Returns the time spent waiting for limits so far, in milliseconds. */
  readonly waitedMs: () => number
  /** Real time that is left of the budget, in milliseconds. */
  readonly timeLeft: Effect.Effect<number>
}

/** Begins a conversation, and reads the subject's clock if there is one. */
export const make = Effect.fnUntraced(function* (options: ConversationOptions) {
  const { basePath, budget, clock, secrets, transport } = options
  /** The time of the first request, at which the time budget starts: a subject may be created long before the run. */
  let begunAt: number | undefined
  const exchanges: Array<Exchange> = []
  let sentCount = 0
  /** Number of consecutive requests without a response; at the maximum, the server counts as unreachable. */
  let missingResponses = 0
  let inFlight = 0
  let waitedMs = 0
  /** The subject's time minus this machine's time, in milliseconds. */
  let skew = 0
  let isSkewKnown = false
  /** The rate headers of the latest response to the main key; `undefined` if they are outdated. */
  let mainRate: RateHeaders.RateHeaders | undefined

  const timeLeft = Effect.map(
    Clock.currentTimeMillis,
    (local) => (begunAt ?? local) + budget.milliseconds - local
  )
  const failTimeSpent = undecided("the time budget is spent")
  /** Interrupts the effect as soon as the time budget is spent. */
  const withinBudget = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E | Undecided> =>
    Effect.flatMap(timeLeft, (left) =>
      left <= 0
        ? failTimeSpent
        : Effect.timeoutOrElse(effect, { duration: left, orElse: () => failTimeSpent })
    )

  const readClock = (reading: Effect.Effect<number, NoResponse>): Effect.Effect<number, Failure> =>
    Effect.gen(function* () {
      const time = yield* withinBudget(reading).pipe(
        Effect.catchTag("NoResponse", ({ reason }) =>
          Effect.fail(new Violation({ expected: "the declared clock to work", actual: reason }))
        )
      )
      skew = time - (yield* Clock.currentTimeMillis)
      isSkewKnown = true
      return time
    })
  if (clock !== undefined) yield* readClock(clock.now)

  const subjectTime = Effect.map(Clock.currentTimeMillis, (local) => local + skew)

  const requestOf = ({
    authorization,
    body,
    headers = [],
    json,
    key = "main",
    method = "GET",
    path
  }: Sent) => {
    const secret = secrets[key]
    const credentials = authorization ?? (secret === undefined ? [] : [`Bearer ${secret}`])
    const content = json ?? body
    const request: WireRequest = {
      method,
      target: basePath + path,
      headers: [
        ...credentials.map((value): Header => ["Authorization", value]),
        ...(json === undefined ? [] : [["Content-Type", "application/json"] as const]),
        ...headers
      ],
      body: typeof content === "string" ? bytes(content) : content
    }
    if (authorization === undefined) return { request, key } as const
    return { request, key: authorization.length === 0 ? "none" : "other" } as const
  }

  const send = Effect.fnUntraced(function* (sent: Sent, trial: Trial): Effect.fn.Return<Exchange, Failure> {
    if (sentCount >= budget.requests)
      return yield* undecided(`the request budget is spent: ${budget.requests}`)
    if ((yield* timeLeft) <= 0) return yield* failTimeSpent
    if (missingResponses >= MAX_MISSING_RESPONSES) {
      return yield* undecided(
        `the server is unreachable: ${missingResponses} consecutive requests had no response`
      )
    }
    begunAt ??= yield* Clock.currentTimeMillis
    sentCount++
    const { key, request } = requestOf(sent)
    const did = SentText.describe(sent, secrets)
    const sentLocally = yield* Clock.currentTimeMillis
    const skewAtStart = isSkewKnown ? skew : undefined
    const wasAlone = inFlight === 0
    const ordinal = sentCount
    inFlight++
    const response = yield* withinBudget(transport(request)).pipe(
      Effect.catchTag("NoResponse", (failure) => {
        // A response that exceeds a limit shows that the subject is reachable.
        missingResponses = failure.kind === "excess" ? 0 : missingResponses + 1
        trial.record({ did, got: `no response: ${failure.reason}` })
        return Effect.fail(noResponse(did, failure))
      }),
      Effect.ensuring(
        Effect.sync(() => {
          inFlight--
        })
      )
    )
    if (!isSkewKnown) setSkewFromDate(response, yield* Clock.currentTimeMillis)
    missingResponses = 0
    const exchange: Exchange = {
      index: ordinal - 1,
      key,
      did,
      request,
      response,
      // The first response determines the skew, which then also applies to the time of its own request.
      sentAt: sentLocally + (skewAtStart ?? skew),
      receivedAt: yield* subjectTime,
      byClock: clock !== undefined,
      isAlone: wasAlone && inFlight === 0 && sentCount === ordinal
    }
    const stored = { ...exchange, response: KeptResponse.of(response) }
    exchanges.push(stored)
    trial.record({ did, got: outcome(response), exchange: stored })
    if (key === "main") mainRate = RateHeaders.of(response) ?? mainRate
    return exchange
  })

  /** Sets the skew from the `Date` of the first response, if there is no clock. */
  const setSkewFromDate = (response: WireResponse, local: number): void => {
    const date = Date.parse(header(response, "date") ?? "")
    // The 500 ms are the middle of the second that `Date` shows.
    if (!Number.isNaN(date)) skew = Math.abs(date + 500 - local) <= 1_000 ? 0 : date + 500 - local
    isSkewKnown = true
  }

  const advance = Effect.fnUntraced(function* (ms: number): Effect.fn.Return<void, Failure> {
    const wait = Math.ceil(ms)
    if (wait <= 0) return
    if (!(wait <= MAX_ADVANCE_MS)) {
      return yield* undecided(
        `the subject demands a wait of ${Math.ceil(wait / DAY_MS)} days, which is too long for a run`
      )
    }
    if (clock !== undefined) {
      const from = yield* readClock(clock.now)
      const to = yield* readClock(clock.advance(wait))
      if (to < from + wait) {
        return yield* undecided(`the clock was advanced by ${wait} ms but moved by ${to - from} ms`)
      }
      return
    }
    const left = yield* timeLeft
    if (wait > MAX_WAIT_MS || wait > left) {
      return yield* undecided(
        `it needs a wait of ${Math.ceil(wait / 1_000)} s, more than ${
          wait > MAX_WAIT_MS ? `the ${MAX_WAIT_MS / 1_000} s that a run waits` : "the time budget"
        }; a clock (--clock) makes it possible`
      )
    }
    waitedMs += wait
    yield* Effect.sleep(wait)
  })

  const reserve = Effect.fnUntraced(function* (requests: number): Effect.fn.Return<void, Failure> {
    if (mainRate === undefined || mainRate.remaining >= requests) return
    // Without a clock, a 429 states the necessary wait more exactly than these headers.
    if (clock === undefined && requests <= 1) return
    if (requests > mainRate.limit) {
      return yield* undecided(
        `it sends ${requests} requests concurrently, more than the main key's limit of ${mainRate.limit}`
      )
    }
    yield* advance(mainRate.resetAt * 1_000 - (yield* subjectTime) + RESET_SLACK_MS)
    mainRate = undefined
  })

  const sendPaced = Effect.fnUntraced(function* (
    sent: Sent,
    trial: Trial
  ): Effect.fn.Return<Exchange, Failure> {
    yield* reserve(1)
    for (let denials = 0; ; denials++) {
      const exchange = yield* send(sent, trial)
      if (exchange.response.status !== 429) return exchange
      const seconds = yield* retryAfterOf(exchange)
      if (denials === MAX_DENIALS) {
        return yield* new Violation({
          expected: "the main key to be admitted after the time given in Retry-After",
          actual: `429 ${denials + 1} times in a row, each time after waiting for Retry-After`
        })
      }
      mainRate = undefined
      yield* advance(seconds * 1_000 + (clock === undefined ? RETRY_SLACK_MS : 0))
    }
  })

  const conversation: Conversation = {
    exchanges,
    send,
    sendPaced,
    sendConcurrently: (all, trial) =>
      Effect.forEach(all, (sent) => send(sent, trial), { concurrency: "unbounded" }),
    reserve,
    now: clock === undefined ? subjectTime : readClock(clock.now),
    advance,
    slackMs: clock === undefined ? DATE_SLACK_MS : CLOCK_SLACK_MS,
    hasClock: clock !== undefined,
    waitedMs: () => waitedMs,
    timeLeft
  }
  return conversation
})

/**
 * Creates the violation for a missing response, or for one without a JSON body because it cannot be read completely.
 */
const noResponse = (did: string, { hasBegun = false, reason }: NoResponse): Violation =>
  hasBegun
    ? new Violation({
        clause: "http.json-bodies",
        expected: `a complete response of at most 1 MB to ${did}`,
        actual: reason
      })
    : new Violation({ expected: `a response to ${did}`, actual: `none: ${reason}` })

/** Returns the seconds to wait after a 429; fails with a `Violation` without a valid Retry-After. */
export const retryAfterOf = (exchange: Exchange): Effect.Effect<number, Violation> => {
  const seconds = RateHeaders.retryAfterSeconds(exchange)
  return seconds === undefined
    ? Effect.fail(
        new Violation({
          clause: "limits.retry-after-present",
          expected: "Retry-After with a 429: a number of seconds or a date",
          actual: outcome(exchange.response)
        })
      )
    : Effect.succeed(seconds)
}

/** Describes a response in one line. */
export const outcome = (response: KeptResponse.KeptResponse): string => {
  const shown = Excerpt.body(response.body, 200, KeptResponse.sizeOf(response))
  const rate = RateHeaders.of(response)
  const left = rate === undefined ? "" : `, remaining ${rate.remaining}`
  const retryAfter = header(response, "retry-after")
  return `${response.status}${left}${
    retryAfter === undefined ? "" : `, Retry-After ${Excerpt.words(retryAfter, 100)}`
  }${shown === "" ? "" : ` ${shown}`}`
}
