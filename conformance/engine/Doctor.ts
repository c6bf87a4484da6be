/**
 * Checks the set-up before a run over HTTP, so that an error is reported in one sentence and not as a cascade of
 * failures.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as PetStatus from "../../core/domain/PetStatus.ts"
import type { Plan } from "../../core/limits/Plan.ts"
import * as Trial from "../evaluation/Trial.ts"
import * as Moment from "../http/Moment.ts"
import * as PetJson from "../http/PetJson.ts"
import * as RateHeaders from "../http/RateHeaders.ts"
import { REMOVAL_BEGINS } from "../http/Removal.ts"
import { header, text, type WireResponse } from "../http/Wire.ts"
import type * as Conversation from "../subjects/Conversation.ts"
import type { HttpSubject, HttpTarget, SmallKey } from "../subjects/HttpSubject.ts"
import * as DoctorClock from "./DoctorClock.ts"
import { failSetup, send, type Unreadable } from "./DoctorRequest.ts"
import * as Estimate from "./Estimate.ts"
import * as Run from "./Run.ts"
import { SetupError } from "./SetupError.ts"

/** Examines the set-up and returns the findings and the estimated cost, one line each; fails with the first error. */
export const examine = (
  subject: HttpSubject,
  options: Pick<Run.RunOptions, "level" | "only" | "exclude">
): Effect.Effect<ReadonlyArray<string>, SetupError> => {
  const { redact = (line: string) => line } = subject
  return Effect.mapBoth(findings(subject, options), {
    onSuccess: (lines) => lines.map(redact),
    onFailure: ({ reason }) => new SetupError({ reason: redact(reason) })
  })
}

const findings = Effect.fnUntraced(function* (
  subject: HttpSubject,
  options: Pick<Run.RunOptions, "level" | "only" | "exclude">
): Effect.fn.Return<ReadonlyArray<string>, SetupError> {
  yield* checkKeysDiffer(subject.target)
  const lines: Array<string> = []
  const state = yield* Effect.catchTag(examineSubject(subject, lines), "Unreadable", ({ reason }) =>
    Effect.sync((): Estimate.State => {
      lines.push(`a response cannot be read: ${reason}; the checks give details`)
      return {}
    })
  )
  const [first] = subject.exchanges
  const latencyMs = first === undefined ? 0 : first.receivedAt - first.sentAt
  return [...lines, ...Estimate.lines(subject, options, latencyMs, state)]
})

/** Sends the requests of the doctor, adds a line to `findings` for each result, and returns the subject's state. */
const examineSubject = Effect.fnUntraced(function* (
  subject: HttpSubject,
  findings: Array<string>
): Effect.fn.Return<Estimate.State, SetupError | Unreadable> {
  const { conversation, target } = subject
  const trial = Trial.make(yield* Effect.map(Run.tokens, (next) => next()))
  const address = target.baseUrl ?? target.name
  const listAnimals = (key: "main" | "tiny" | "victim") =>
    send(
      conversation,
      { path: "/pets?limit=1", key },
      trial,
      (message) => `cannot reach ${address}: ${message}`
    )

  const startedAt = yield* Clock.currentTimeMillis
  const first = yield* listAnimals("main")
  const latencyMs = (yield* Clock.currentTimeMillis) - startedAt
  const { response } = first
  switch (response.status) {
    case 200:
    case 429:
      break
    case 401:
    case 403:
      return yield* failSetup(`the server rejects the main key (--key) with status ${response.status}`)
    default: {
      // If a creation succeeds, the address is correct, and the list should have been an empty array (contract §4.1).
      const { status } = yield* create(subject, trial)
      if (status !== 201) {
        return yield* failSetup(
          response.status === 404
            ? `GET ${target.basePath}/pets returns 404: the address (--url) must be the base address, such as http://127.0.0.1:3000/v1`
            : `GET ${target.basePath}/pets with the main key returns status ${response.status}: ${PetJson.excerpt(text(response.body.subarray(0, MAX_SHOWN_BYTES)))}`
        )
      }
      findings.push(`a list without animals returns status ${response.status}: the checks give details`)
    }
  }
  findings.push(`${address} responds in ${latencyMs} ms and accepts the main key`)
  const rate = RateHeaders.of(response)
  findings.push(
    rate === undefined
      ? "the main key's limits are unknown: X-RateLimit-* are missing or not whole numbers"
      : `the main key's X-RateLimit-Limit is ${rate.limit}, ${rate.remaining} left`
  )
  findings.push(yield* tryCreation(subject, trial))
  const wrongKeyStatus = yield* sendWrongKey(conversation, trial)
  findings.push(
    wrongKeyStatus === 401
      ? "a wrong key is rejected with 401"
      : `a wrong key gets status ${wrongKeyStatus}: the auth checks give details`
  )
  findings.push(yield* examineTime(subject, trial))
  const traces = yield* findTraces(subject, trial)
  findings.push(...traces.lines)
  const smallKeys: Array<SmallKeyResponse> = []
  for (const [name, key] of [
    ["tiny", target.keys.tiny],
    ["victim", target.keys.victim]
  ] as const) {
    if (key !== undefined) smallKeys.push({ name, key, response: (yield* listAnimals(name)).response })
  }
  findings.push(...(yield* examineSmallKeys(smallKeys, wrongKeyStatus !== 200)))
  return traces.state
})

const checkKeysDiffer = ({ keys }: HttpTarget): Effect.Effect<void, SetupError> => {
  const given = [
    ["--key", keys.main],
    ["--tiny", keys.tiny?.secret],
    ["--victim", keys.victim?.secret],
    ["--revoked", keys.revoked],
    ["--expired", keys.expired]
  ].filter(([, secret]) => secret !== undefined)
  const duplicate = given.find(
    ([, secret], index) => given.findIndex(([, earlier]) => earlier === secret) < index
  )
  return duplicate === undefined
    ? Effect.void
    : failSetup(
        `the key given with ${duplicate[0]} is also given for another purpose: each purpose needs its own key`
      )
}

/** A category that is unlikely to be accepted by a server that accepts only certain categories. */
const RARE_CATEGORY = 777_777n

/**
 * Creates an animal, by default with a category that the subject accepts, and returns the response. Fails with a
 * `SetupError` if the status is 400 and no categories are declared. With declared categories, a 400 breaks
 * the contract, so the checks report it.
 */
const create = (
  { conversation, target: { declared } }: HttpSubject,
  trial: Trial.Trial,
  wanted?: bigint
): Effect.Effect<WireResponse, SetupError | Unreadable> => {
  const { categories = "any" } = declared ?? {}
  const categoryId = wanted ?? (categories === "any" ? 1n : (categories[0] ?? 1n))
  const json = PetJson.draft({ name: trial.name(), categoryId, status: "available" })
  return Effect.flatMap(send(conversation, { method: "POST", path: "/pets", json }, trial), ({ response }) =>
    response.status === 400 && categories === "any"
      ? failSetup(
          `the server rejects the creation ${json}: ${PetJson.excerpt(text(response.body.subarray(0, MAX_SHOWN_BYTES)))}. If it accepts only certain categories, declare them (--category)`
        )
      : Effect.succeed(response)
  )
}

/** Reports whether a run can create animals: the contract lets a server reject certain names and categories. */
const tryCreation = Effect.fnUntraced(function* (
  subject: HttpSubject,
  trial: Trial.Trial
): Effect.fn.Return<string, SetupError | Unreadable> {
  const { status } = yield* create(subject, trial)
  if (status !== 201) return `a creation returns status ${status}: the checks give details`
  const { categories = "any" } = subject.target.declared ?? {}
  if (categories === "any") yield* create(subject, trial, RARE_CATEGORY)
  return "animals can be created"
})

/** Maximum number of bytes of a body in an error message. */
const MAX_SHOWN_BYTES = 500

/** Sends a request with a wrong key, and returns the status of the response. */
const sendWrongKey = (conversation: Conversation.Conversation, trial: Trial.Trial) =>
  Effect.map(
    send(conversation, { path: "/pets?limit=1", authorization: ["Bearer wrong-key-of-the-doctor"] }, trial),
    ({ response }) => response.status
  )

/** Maximum number of animals in a list, as the contract states it. */
const FULL_LIST = 100

/** With this many animals of each status before the run, every list is full when a check first needs a shorter one. */
const SHORT_LIST = 80

/** With this many animals of each status before the run, every list is full at the end of the run. */
const SHORTER_LIST = 15

/** Detects that an earlier run used the same server: by a time after the removal of getPet, or by many animals. */
const findTraces = Effect.fnUntraced(function* (
  { conversation }: HttpSubject,
  trial: Trial.Trial
): Effect.fn.Return<
  { readonly state: Estimate.State; readonly lines: ReadonlyArray<string> },
  SetupError | Unreadable
> {
  const read = Effect.fnUntraced(function* (query: string) {
    const { receivedAt, response } = yield* send(
      conversation,
      { path: `/pets?limit=${FULL_LIST}${query}` },
      trial
    )
    const animals = Result.flatMap(PetJson.parse(text(response.body)), PetJson.animals)
    return { receivedAt, count: Result.isSuccess(animals) ? animals.success.length : 0 }
  })
  const { count, receivedAt } = yield* read("")
  const isFull = count >= FULL_LIST
  const byStatus = yield* Effect.forEach(PetStatus.all, (status) => read(`&status=${status}`))
  const shortest = Math.min(...byStatus.map((list) => list.count))
  const isRemoved = receivedAt >= REMOVAL_BEGINS
  return {
    state: {
      getPet: !isRemoved,
      "room for the first checks": shortest < SHORT_LIST,
      "room for the whole run": shortest < SHORTER_LIST
    },
    lines: [
      ...(isRemoved
        ? [
            `the server's time is ${Moment.iso(receivedAt)}, after the removal of GET /pets/{petId}, so checks of that operation do not apply: restart the server before each run`
          ]
        : []),
      ...(isFull
        ? [
            `the store has ${FULL_LIST} animals or more, so a list need not show all of them, and checks of lists may stay inconclusive: start with an empty store`
          ]
        : [])
    ]
  }
})

/** Reports the subject's time, and checks whether the clock belongs to the subject. */
const examineTime = Effect.fnUntraced(function* (
  subject: HttpSubject,
  trial: Trial.Trial
): Effect.fn.Return<string, SetupError | Unreadable> {
  const { conversation, target } = subject
  if (target.clock !== undefined) return yield* DoctorClock.examine(subject, target.clock, trial)
  const { response } = yield* send(conversation, { path: "/pets?limit=1" }, trial)
  const date = Date.parse(header(response, "date") ?? "")
  const local = yield* Clock.currentTimeMillis
  return Number.isNaN(date)
    ? "no clock is given, and responses have no Date: this machine's time is used"
    : `no clock is given; the server's Date differs from this machine's time by ${Math.round(Math.abs(date - local) / 1_000)} s`
})

/** A small key, and the response to a list request with it. */
interface SmallKeyResponse {
  readonly name: "tiny" | "victim"
  readonly key: SmallKey
  readonly response: WireResponse
}

const limitOf = ({ response }: SmallKeyResponse): number | undefined => RateHeaders.of(response)?.limit

const isOnPlan = ({ perDay, perMinute }: Plan, limit: number | undefined): boolean =>
  limit === perMinute || limit === perDay

const examineSmallKeys = (
  all: ReadonlyArray<SmallKeyResponse>,
  rejectsWrongKeys: boolean
): Effect.Effect<ReadonlyArray<string>, SetupError> => {
  // One wrong limit is probably a wrong declaration. If each key has a limit that is declared for none, the server is
  // probably wrong, and the checks of limits report it. Such a server may also have the same limits for all keys.
  const isServerWrong =
    all.length > 1 &&
    all.every((examined) => {
      const limit = limitOf(examined)
      return limit !== undefined && !all.some(({ key }) => isOnPlan(key, limit))
    })
  return Effect.forEach(all, (examined) => examineSmallKey(examined, rejectsWrongKeys && !isServerWrong))
}

/** Reports whether a small key is accepted and on its plan; another plan is an error only if `areLimitsReliable`. */
const examineSmallKey = (
  { key: { perDay, perMinute }, name, response }: SmallKeyResponse,
  areLimitsReliable: boolean
): Effect.Effect<string, SetupError> => {
  if (response.status === 401 || response.status === 403) {
    return failSetup(`the server rejects the key given with --${name} with status ${response.status}`)
  }
  if (response.status !== 200 && response.status !== 429) {
    return Effect.succeed(
      `a list with the key given with --${name} returns status ${response.status}: the checks give details`
    )
  }
  const limit = RateHeaders.of(response)?.limit
  const declared = `${perMinute} requests per minute and ${perDay} per day`
  if (limit === undefined)
    return Effect.succeed(`the ${name} key is accepted, without a limit in the response`)
  if (isOnPlan({ perDay, perMinute }, limit))
    return Effect.succeed(`the ${name} key is on the declared plan: ${declared}`)
  return areLimitsReliable
    ? failSetup(
        `the key given with --${name} is not on the declared plan: its X-RateLimit-Limit is ${limit}, but ${declared} are declared`
      )
    : Effect.succeed(`the ${name} key's X-RateLimit-Limit is ${limit}, but ${declared} are declared`)
}
