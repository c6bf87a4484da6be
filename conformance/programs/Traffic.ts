/**
 * Sends all requests of a run to one server. Reports each exchange with the server's own time, waits for the server's
 * limits, and stops at the budget of the run.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Animal } from "../http/Animal.ts"
import * as PetJson from "../http/PetJson.ts"
import * as RateHeaders from "../http/RateHeaders.ts"
import { bytes, type Header, header, type NoResponse, type WireResponse } from "../http/Wire.ts"
import type { Exchange } from "../model/Exchange.ts"
import type { Budget } from "../subjects/HttpSubject.ts"
import * as HttpSubject from "../subjects/HttpSubject.ts"
import * as SentRequest from "../subjects/SentRequest.ts"
import { type Sent, Stopped, type Tools } from "./Program.ts"

/** Maximum single wait without a clock, in milliseconds: slightly more than a window of a minute. */
const MAX_WAIT_MS = 65_000

const DAY_MS = 86_400_000

/** Maximum single advance of a clock, in milliseconds: far beyond December 2030, but within the range of `Date`. */
const MAX_ADVANCE_MS = 10_000 * DAY_MS

/** Number of consecutive missing responses after which the server counts as unreachable. */
const MAX_MISSING_RESPONSES = 5

/** Who a paced request comes from. */
type Caller = "main" | "anonymous"

/** Maximum number of consecutive 429s that a paced request waits for. */
const MAX_DENIALS = { main: 5, anonymous: 1 } as const

/** Without a valid key and a clock: the longest single wait in seconds, and the maximum number of waits of a run. */
const [MAX_ANONYMOUS_WAIT_S, MAX_ANONYMOUS_WAITS] = [3, 30]

/** Maximum total size in bytes of the bodies that a run keeps. */
const MAX_KEPT_BYTES = 64_000_000

/** Additional waits in milliseconds: after Reset, which has whole seconds, and after Retry-After in real time. */
const [RESET_SLACK_MS, RETRY_SLACK_MS] = [1_000, 250]

/** Tolerance in milliseconds if the server's time comes from `Date`, which has whole seconds. */
const DATE_SLACK_MS = 1_500

export interface Options {
  readonly target: HttpSubject.HttpTarget
  readonly budget: Budget
  /** Called with each exchange when its response has arrived, or when it is certain that none will. */
  readonly see: (exchange: Exchange) => void
  /** Returns a new name for an animal. */
  readonly name: (tail?: string) => string
}

export interface Traffic extends Tools {
  readonly requests: () => number
  /** Returns the time spent waiting for limits so far, in milliseconds. */
  readonly waitedMs: () => number
  /** Returns the shortest time between a request and its response so far, in milliseconds of this machine. */
  readonly latencyMs: () => number
  /** Whether the latest request showed that there is a server. */
  readonly isReachable: () => boolean
  /** Returns the limit in the latest rate headers for the main key. */
  readonly mainLimit: () => number | undefined
  /** Returns the limit in the latest rate headers for a caller without a valid key. */
  readonly anonymousLimit: () => number | undefined
}

export const make = Effect.fnUntraced(function* ({ budget, name, see, target }: Options) {
  const { basePath, clock, declared, keys, transport } = target
  const secrets = HttpSubject.secretsOf(keys)
  const begunAt = yield* Clock.currentTimeMillis
  const created: Array<Animal> = []
  let [sentCount, inFlight, missingResponses, keptBytes, shortestMs] = [0, 0, 0, 0, Infinity]
  let [waitedMs, anonymousWaits] = [0, 0]
  /** The server's time minus this machine's time in milliseconds; `undefined` before the first response. */
  let skew: number | undefined
  /** The rate headers of the latest response to each caller; absent if they are outdated. */
  const rates = new Map<Caller, RateHeaders.RateHeaders>()
  /** How inexact the server's time is known, in milliseconds. */
  let slack = clock === undefined ? DATE_SLACK_MS : 0

  const timeLeft = Effect.map(Clock.currentTimeMillis, (now) => begunAt + budget.milliseconds - now)
  const stopped = (reason: string) => Effect.fail(new Stopped({ reason }))
  const reachable = Effect.suspend(() =>
    missingResponses >= MAX_MISSING_RESPONSES
      ? stopped(`the server is unreachable: ${missingResponses} consecutive requests had no response`)
      : Effect.void
  )
  const withinBudget = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E | Stopped> =>
    Effect.flatMap(timeLeft, (left) =>
      left <= 0
        ? stopped("the time budget is spent")
        : Effect.timeoutOrElse(effect, { duration: left, orElse: () => stopped("the time budget is spent") })
    )
  const readClock = (reading: Effect.Effect<number, NoResponse>): Effect.Effect<number, Stopped> =>
    Effect.gen(function* () {
      const before = yield* Clock.currentTimeMillis
      const time = yield* Effect.catchTag(withinBudget(reading), "NoResponse", ({ reason }) =>
        stopped(reason)
      )
      // A clock behind a connection showed this time at an unknown moment of the exchange.
      const half = clock?.isLocal === true ? 0 : Math.ceil(((yield* Clock.currentTimeMillis) - before) / 2)
      if (clock?.isLocal !== true) slack = half + 1
      skew = time - before - half
      return time
    })
  if (clock !== undefined) yield* readClock(clock.now)

  // A clock in this process may stand still, so it is read for each request.
  const now =
    clock?.isLocal === true
      ? readClock(clock.now)
      : Effect.map(Clock.currentTimeMillis, (local) => local + (skew ?? 0))

  const requestOf = (sent: Sent) => {
    const { authorization, body, headers = [], json, key = "main", method = "GET", path } = sent
    const secret = secrets[key]
    const credentials = authorization ?? (secret === undefined ? [] : [`Bearer ${secret}`])
    const content = json ?? body
    return {
      method,
      target: basePath + path,
      headers: [
        ...credentials.map((value): Header => ["Authorization", value]),
        ...(json === undefined ? [] : [["Content-Type", "application/json"] as const]),
        ...headers
      ],
      body: typeof content === "string" ? bytes(content) : content
    }
  }

  const sendOne = Effect.fnUntraced(function* (
    sent: Sent,
    isTogether: boolean
  ): Effect.fn.Return<Exchange, Stopped> {
    if (sentCount >= budget.requests) return yield* stopped(`the request budget is spent: ${budget.requests}`)
    if (keptBytes > MAX_KEPT_BYTES)
      return yield* stopped(`the bodies of the responses exceed ${MAX_KEPT_BYTES / 1_000_000} MB in all`)
    yield* reachable
    const ordinal = ++sentCount
    const request = requestOf(sent)
    const did = SentRequest.describe(request, basePath, secrets)
    const sentAt = yield* now
    const skewAtStart = skew
    const wasAlone = inFlight++ === 0
    const begun = yield* Clock.monotonicTimeNanos
    const received = yield* withinBudget(transport(request)).pipe(
      Effect.catchTag("NoResponse", Effect.succeed),
      Effect.ensuring(Effect.sync(() => void inFlight--))
    )
    const response = "status" in received ? received : undefined
    // A response that exceeds a limit shows that the server is reachable.
    const isSent = !("kind" in received && received.kind === "unsent")
    const isMissing = "kind" in received && received.kind !== "excess"
    if (isSent) missingResponses = isMissing ? missingResponses + 1 : 0
    shortestMs = Math.min(shortestMs, Number((yield* Clock.monotonicTimeNanos) - begun) / 1e6)
    keptBytes += (response?.body.length ?? 0) + (request.body?.length ?? 0)
    if (skew === undefined && response !== undefined)
      skew = skewFromDate(response, yield* Clock.currentTimeMillis)
    // The first response determines the skew, which then also applies to the time of its own request.
    const from = skewAtStart === undefined ? sentAt + (skew ?? 0) : sentAt
    const exchange: Exchange = {
      index: ordinal - 1,
      did,
      request,
      response,
      ...("reason" in received ? { missing: received.reason } : {}),
      from: from - slack,
      to: (yield* now) + slack,
      isAlone: wasAlone && inFlight === 0 && sentCount === ordinal,
      isTogether,
      isLast: inFlight === 0,
      until: sentCount
    }
    const caller = callerOf(sent)
    const rate = response && RateHeaders.of(response)
    // One odd response, such as a limit of 0 on an unknown path, must not stop every later program.
    if (rate !== undefined && rate.limit > 0 && (caller === "main" || response?.status === 401))
      rates.set(caller ?? "anonymous", rate)
    const animal = caller === "main" && response && PetJson.createdBy({ request, response })
    if (animal) created.push(animal)
    if (isSent) see(exchange)
    return exchange
  })

  const sendOnce = (sent: Sent) => sendOne(sent, false)

  const advance = Effect.fnUntraced(function* (ms: number): Effect.fn.Return<void, Stopped> {
    const wait = Math.ceil(ms)
    if (wait <= 0) return
    yield* reachable
    if (!(wait <= MAX_ADVANCE_MS)) {
      return yield* stopped(`a wait of ${Math.ceil(wait / DAY_MS)} days is too long for a run`)
    }
    if (clock !== undefined) {
      const from = yield* readClock(clock.now)
      const to = yield* readClock(clock.advance(wait))
      return to < from + wait
        ? yield* stopped(`the clock was advanced by ${wait} ms but moved by ${to - from} ms`)
        : undefined
    }
    if (wait > MAX_WAIT_MS || wait > (yield* timeLeft)) {
      return yield* stopped(
        `it needs a wait of ${Math.ceil(wait / 1_000)} s, which is too long; a clock (--clock) makes it possible`
      )
    }
    waitedMs += wait
    yield* Effect.sleep(wait)
  })

  /** Waits until a caller has this many requests left. */
  const reserve = Effect.fnUntraced(function* (
    caller: Caller,
    requests: number
  ): Effect.fn.Return<void, Stopped> {
    const rate = rates.get(caller)
    if (rate === undefined || rate.remaining >= requests) return
    // Without a clock, a 429 states the necessary wait more exactly than these headers.
    if (clock === undefined && requests <= 1) return
    if (requests > rate.limit)
      return yield* stopped(
        `it sends ${requests} requests at the same time, more than the ${caller} key's limit of ${rate.limit}`
      )
    yield* advance(Math.min(DAY_MS, rate.resetAt * 1_000 - (yield* now)) + RESET_SLACK_MS)
    rates.delete(caller)
  })

  const send = Effect.fnUntraced(function* (sent: Sent): Effect.fn.Return<Exchange, Stopped> {
    const caller = callerOf(sent)
    // The limits of small keys are what programs are about.
    if (caller === undefined) return yield* sendOnce(sent)
    yield* reserve(caller, 1)
    for (let denials = 0; ; denials++) {
      const exchange = yield* sendOnce(sent)
      const { response, to } = exchange
      if (response?.status !== 429 || denials === MAX_DENIALS[caller]) return exchange
      const byClock = clock !== undefined
      const seconds = RateHeaders.retryAfterSeconds(response, to, byClock)
      if (seconds === undefined) return exchange
      rates.delete(caller)
      if (caller === "anonymous" && !byClock) {
        if (seconds > MAX_ANONYMOUS_WAIT_S || ++anonymousWaits > MAX_ANONYMOUS_WAITS) return exchange
      }
      yield* advance(seconds * 1_000 + (byClock ? 0 : RETRY_SLACK_MS))
    }
  })

  const traffic: Traffic = {
    keys,
    basePath,
    categories: declared?.categories ?? "any",
    hasClock: clock !== undefined,
    send,
    sendOnce,
    sendTogether: (all) =>
      Effect.andThen(
        reserve("main", all.length),
        Effect.forEach(all, (sent) => sendOne(sent, true), { concurrency: "unbounded" })
      ),
    name,
    created: () => created,
    now,
    advance,
    requests: () => sentCount,
    waitedMs: () => waitedMs,
    latencyMs: () => shortestMs,
    isReachable: () => missingResponses === 0,
    mainLimit: () => rates.get("main")?.limit,
    anonymousLimit: () => rates.get("anonymous")?.limit
  }
  return traffic
})

/** Returns who a request comes from; `undefined` if it has a small key. */
const callerOf = ({ authorization, key = "main" }: Sent): Caller | undefined => {
  if (authorization !== undefined) return "anonymous"
  if (key === "main") return "main"
  return key === "tiny" || key === "victim" ? undefined : "anonymous"
}

/** Returns the server's time minus this machine's, by the `Date` of a response; 0 if they nearly agree. */
const skewFromDate = (response: WireResponse, local: number): number => {
  const date = Date.parse(header(response, "date") ?? "")
  // The 500 ms are the middle of the second that `Date` shows.
  return Number.isNaN(date) || Math.abs(date + 500 - local) <= 1_000 ? 0 : date + 500 - local
}
