/**
 * Checks the set-up before a run over HTTP, so that a mistake is reported in one sentence and not as a cascade of
 * failures.
 */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { Face } from "../evaluation/Faces.ts"
import type { Sent } from "../evaluation/Http.ts"
import * as Trial from "../evaluation/Trial.ts"
import type { Exchange } from "../http/Exchange.ts"
import * as Moment from "../http/Moment.ts"
import * as PetJson from "../http/PetJson.ts"
import * as RateHeaders from "../http/RateHeaders.ts"
import { header, type NoResponse, text } from "../http/Wire.ts"
import type * as Conversation from "../subjects/Conversation.ts"
import type { HttpSubject, HttpTarget, SmallKey } from "../subjects/HttpSubject.ts"
import * as Run from "./Run.ts"
import * as Selection from "./Selection.ts"
import { SetupFault } from "./SetupFault.ts"

/** The subject sent a response that cannot be read completely: a failure that the checks report. */
class Unreadable extends Data.TaggedError("Unreadable")<{ readonly reason: string }> {}

const fault = (reason: string): Effect.Effect<never, SetupFault> => Effect.fail(new SetupFault({ reason }))

/** Sends a request of the doctor; without a response the set-up is wrong. */
const send = (
  conversation: Conversation.Conversation,
  sent: Sent,
  trial: Trial.Trial,
  reason = (message: string) => message
): Effect.Effect<Exchange, SetupFault | Unreadable> =>
  Effect.mapError(conversation.send(sent, trial), (failure) =>
    failure._tag === "Violation" && failure.clause !== undefined
      ? new Unreadable({ reason: failure.message })
      : new SetupFault({ reason: reason(failure.message) })
  )

/** Maximum difference in ms between the clock and `Date` of a server; `Date` has whole seconds. */
const APART_MS = 3_000

/** How far the clock is moved to test it, in ms. */
const STEP_MS = 10_000

/** Approximate time in ms that a run without a clock waits for the limits of small keys. */
const WAITS_MS = 100_000

/** Findings about the subject, one line each, or the first error. */
export const examine = (
  subject: HttpSubject,
  options: Pick<Run.RunOptions, "level" | "only" | "exclude">
): Effect.Effect<ReadonlyArray<string>, SetupFault> => {
  const { redact = (line: string) => line } = subject
  return Effect.mapBoth(findings(subject, options), {
    onSuccess: (lines) => lines.map(redact),
    onFailure: ({ reason }) => new SetupFault({ reason: redact(reason) })
  })
}

const findings = Effect.fnUntraced(function* (
  subject: HttpSubject,
  options: Pick<Run.RunOptions, "level" | "only" | "exclude">
): Effect.fn.Return<ReadonlyArray<string>, SetupFault> {
  yield* keysDiffer(subject.target)
  const found: Array<string> = []
  yield* Effect.catchTag(look(subject, found), "Unreadable", ({ reason }) =>
    Effect.sync(() => found.push(`a response cannot be read: ${reason}; the checks show more`))
  )
  const [first] = subject.exchanges
  const latencyMs = first === undefined ? 0 : first.receivedAt - first.sentAt
  return [...found, ...estimate(subject, options, latencyMs)]
})

/** Adds a line for each finding. */
const look = Effect.fnUntraced(function* (
  subject: HttpSubject,
  findings: Array<string>
): Effect.fn.Return<void, SetupFault | Unreadable> {
  const { conversation, target } = subject
  const trial = Trial.make(yield* Effect.map(Run.tokens, (next) => next()))
  const at = target.baseUrl ?? target.name
  const ask = (key: "main" | "tiny" | "victim") =>
    send(conversation, { path: "/pets?limit=1", key }, trial, (message) => `cannot reach ${at}: ${message}`)

  const began = yield* Clock.currentTimeMillis
  const first = yield* ask("main")
  const latencyMs = (yield* Clock.currentTimeMillis) - began
  const { response } = first
  switch (response.status) {
    case 200:
    case 429:
      break
    case 401:
    case 403:
      return yield* fault(`the server refuses the main key (--key) with status ${response.status}`)
    case 404:
      return yield* fault(
        `GET ${target.basePath}/pets returns 404: the address (--url) must be the base address, such as http://127.0.0.1:3000/v1`
      )
    default:
      return yield* fault(
        `GET ${target.basePath}/pets with the main key returns status ${response.status}: ${PetJson.excerpt(text(response.body.subarray(0, 500)))}`
      )
  }
  findings.push(`${at} responds in ${latencyMs} ms and accepts the main key`)
  const rate = RateHeaders.of(response)
  findings.push(
    rate === undefined
      ? "the main key's limits are unknown: X-RateLimit-* are missing or not whole numbers"
      : `the main key's X-RateLimit-Limit is ${rate.limit}, ${rate.remaining} left`
  )
  findings.push(yield* creation(subject, trial))
  findings.push(yield* wrongKey(conversation, trial))
  findings.push(yield* time(subject, trial))
  for (const [name, key] of [
    ["tiny", target.keys.tiny],
    ["victim", target.keys.victim]
  ] as const) {
    if (key !== undefined) findings.push(yield* smallKey(name, key, yield* ask(name)))
  }
})

const keysDiffer = ({ keys }: HttpTarget): Effect.Effect<void, SetupFault> => {
  const given = [
    ["--key", keys.main],
    ["--tiny", keys.tiny?.secret],
    ["--victim", keys.victim?.secret],
    ["--revoked", keys.revoked],
    ["--expired", keys.expired]
  ].filter(([, secret]) => secret !== undefined)
  const twice = given.find(([, secret], index) => given.findIndex(([, other]) => other === secret) < index)
  return twice === undefined
    ? Effect.void
    : fault(`the key given with ${twice[0]} is given for another purpose too: each needs its own`)
}

/** Checks whether the run can create animals. The contract lets a server reject certain names or categories. */
const creation = Effect.fnUntraced(function* (
  { conversation, target: { declared } }: HttpSubject,
  trial: Trial.Trial
): Effect.fn.Return<string, SetupFault | Unreadable> {
  const { categories = "any" } = declared ?? {}
  const categoryId = categories === "any" ? 1n : (categories[0] ?? 1n)
  const json = PetJson.draft({ name: trial.name(), categoryId, status: "available" })
  const { response } = yield* send(conversation, { method: "POST", path: "/pets", json }, trial)
  if (response.status === 201) return "animals can be created"
  return response.status === 400
    ? yield* fault(
        `the server rejects the creation ${json}: ${PetJson.excerpt(text(response.body.subarray(0, 500)))}. If it accepts only certain categories, declare them (--category)`
      )
    : `a creation returns status ${response.status}: the checks show more`
})

const wrongKey = Effect.fnUntraced(function* (
  conversation: Conversation.Conversation,
  trial: Trial.Trial
): Effect.fn.Return<string, SetupFault | Unreadable> {
  const authorization = ["Bearer wrong-key-of-the-doctor"]
  const exchange = yield* send(conversation, { path: "/pets?limit=1", authorization }, trial)
  const { status } = exchange.response
  return status === 401
    ? "a wrong key is rejected with 401"
    : `a wrong key returns status ${status}: the auth checks show more`
})

const dead = (reason: string) => new SetupFault({ reason: `the clock (--clock) does not work: ${reason}` })

/** Checks the subject's time, and whether the clock belongs to the subject. */
const time = Effect.fnUntraced(function* (
  { conversation, target: { clock } }: HttpSubject,
  trial: Trial.Trial
): Effect.fn.Return<string, SetupFault | Unreadable> {
  const dateOf = Effect.map(send(conversation, { path: "/pets?limit=1" }, trial), ({ response }) =>
    Date.parse(header(response, "date") ?? "")
  )
  const reached = <A>(reading: Effect.Effect<A, NoResponse>) =>
    Effect.mapError(reading, ({ reason }) => dead(reason))

  if (clock === undefined) {
    const date = yield* dateOf
    const local = yield* Clock.currentTimeMillis
    return Number.isNaN(date)
      ? "no clock is given, and responses have no Date: this machine's time is used"
      : `no clock is given; by its Date the server is ${Math.round(Math.abs(date - local) / 1_000)} s apart from this machine`
  }
  const before = yield* dateOf
  const shown = yield* reached(clock.now)
  const moved = yield* reached(clock.advance(STEP_MS))
  if (moved < shown + STEP_MS) {
    return yield* Effect.fail(dead(`it was advanced by ${STEP_MS} ms and moved by ${moved - shown} ms`))
  }
  const date = yield* dateOf
  if (!Number.isNaN(before) && date - before < STEP_MS - APART_MS) {
    return yield* Effect.fail(
      dead(
        `it was advanced by ${STEP_MS / 1_000} s, and the server's Date by ${(date - before) / 1_000} s: it is not this server's`
      )
    )
  }
  if (!Number.isNaN(date) && Math.abs(date - moved) > APART_MS) {
    return yield* Effect.fail(
      dead(`it shows ${Moment.iso(moved)}, the server's Date ${Moment.iso(date)}: it is not this server's`)
    )
  }
  return `the clock can be moved, and shows ${Moment.iso(moved)}`
})

const smallKey = (
  name: "tiny" | "victim",
  { perDay, perMinute }: SmallKey,
  { response }: Exchange
): Effect.Effect<string, SetupFault> => {
  if (response.status === 401 || response.status === 403) {
    return fault(`the server refuses the key given with --${name} with status ${response.status}`)
  }
  if (response.status !== 200 && response.status !== 429) {
    return fault(`a list with the key given with --${name} returns status ${response.status}`)
  }
  const limit = RateHeaders.of(response)?.limit
  const declared = `${perMinute} requests a minute and ${perDay} a day`
  if (limit === undefined)
    return Effect.succeed(`the ${name} key is accepted, without a limit in the response`)
  return limit === perMinute || limit === perDay
    ? Effect.succeed(`the ${name} key is on the plan declared: ${declared}`)
    : fault(
        `the key given with --${name} is on another plan than declared: its X-RateLimit-Limit is ${limit}, declared are ${declared}`
      )
}

/** The estimated cost of the run, and the checks that will be inconclusive. */
const estimate = (
  subject: HttpSubject,
  { exclude = [], level, only = [] }: Pick<Run.RunOptions, "level" | "only" | "exclude">,
  latencyMs: number
): ReadonlyArray<string> => {
  const selection = { level, only, exclude }
  const plans = Run.checksFor(subject, level).map((check) => ({
    check,
    plan: Selection.planOf(check, subject, selection)
  }))
  const planned = plans.filter(({ plan }) => plan.run)
  const requests = planned.reduce((sum, { check }) => sum + check.requests, 0)
  const seconds = Math.ceil((requests * Math.max(latencyMs, 1) * 0.5 + waits(subject, planned)) / 1_000)
  const open = new Map<string, number>()
  for (const { plan } of plans) {
    if (!plan.run && plan.status === "inconclusive") open.set(plan.reason, (open.get(plan.reason) ?? 0) + 1)
  }
  return [
    `${planned.length} checks at level ${level}, about ${requests} requests and ${seconds} s`,
    ...[...open].map(([reason, count]) => `${count} of the checks will stay inconclusive: ${reason}`)
  ]
}

const waits = (
  { conversation }: HttpSubject,
  planned: ReadonlyArray<{ readonly check: { readonly on: Face } }>
): number =>
  !conversation.hasClock && planned.some(({ check }) => check.on === "meter" || check.on === "victim")
    ? WAITS_MS
    : 0
