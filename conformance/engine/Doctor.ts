/**
 * Checks the set-up before a run over HTTP, so that an error is reported in one sentence and not as a cascade of
 * failures.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Plan } from "../../core/limits/Plan.ts"
import * as Excerpt from "../http/Excerpt.ts"
import * as Moment from "../http/Moment.ts"
import * as PetJson from "../http/PetJson.ts"
import * as RateHeaders from "../http/RateHeaders.ts"
import { REMOVAL_BEGINS } from "../http/Removal.ts"
import { header, text, type WireResponse } from "../http/Wire.ts"
import type { Exchange } from "../model/Exchange.ts"
import type { Sent, Stopped } from "../programs/Program.ts"
import type * as Traffic from "../programs/Traffic.ts"
import { type HttpSubject, type HttpTarget, type SmallKey, secretsOf } from "../subjects/HttpSubject.ts"
import * as DoctorClock from "./DoctorClock.ts"
import * as Estimate from "./Estimate.ts"
import * as JudgedRun from "./JudgedRun.ts"
import type { Selection } from "./Selection.ts"
import { failSetup, SetupError } from "./SetupError.ts"

/** Opens a session for a run; fails with one sentence if the clock does not work. */
export const open = ({ budget, exchanges, target }: HttpSubject, level: Selection["level"]) =>
  Effect.mapError(
    JudgedRun.open(target, { budget, exchanges, level }),
    ({ reason }) => new SetupError({ reason: `the clock (--clock) does not work: ${reason}` })
  )

/** Examines the set-up and returns the findings and the estimated cost, one line each; fails with the first error. */
export const examine = Effect.fnUntraced(function* (
  subject: HttpSubject,
  options: Selection,
  session?: JudgedRun.Session
): Effect.fn.Return<ReadonlyArray<string>, SetupError> {
  const { redact, target } = subject
  const { traffic } = session ?? (yield* open(subject, options.level))
  const toSetUpError = ({ reason }: SetupError | Stopped) => new SetupError({ reason: redact(reason) })
  const lines = yield* Effect.mapError(findings(target, traffic), toSetUpError)
  return [...lines, ...Estimate.lines(subject, options, traffic)].map(redact)
})

const findings = Effect.fnUntraced(function* (
  target: HttpTarget,
  traffic: Traffic.Traffic
): Effect.fn.Return<ReadonlyArray<string>, SetupError | Stopped> {
  yield* checkKeysDiffer(target)
  const address = target.baseUrl ?? target.name
  const begun = yield* Clock.currentTimeMillis
  const first = yield* traffic.sendOnce(listAs("main"))
  const firstMs = (yield* Clock.currentTimeMillis) - begun
  if (first.response === undefined) {
    return traffic.isReachable()
      ? [`a response cannot be read: ${first.missing}; the report gives details`]
      : yield* failSetup(`cannot reach ${address}: ${first.missing}`)
  }
  const { response } = first
  const creation = create(target, traffic)
  if (response.status === 401 || response.status === 403) {
    return yield* failSetup(`the server rejects the main key (--key) with status ${response.status}`)
  }
  const isList = response.status === 200 || response.status === 429
  // If a creation succeeds, the address is correct, and the list should have been an empty array (contract §4.1).
  if (!isList && (yield* creation) !== 201) {
    return yield* failSetup(
      response.status === 404
        ? `GET ${target.basePath}/pets returns 404: the address (--url) must be the base address, such as http://127.0.0.1:3000/v1`
        : `GET ${target.basePath}/pets with the main key returns status ${response.status}: ${excerptOf(response)}`
    )
  }
  const rate = RateHeaders.of(response)
  const created = isList ? yield* creation : 201
  const wrongKey = yield* traffic.sendOnce({ path: "/pets?limit=1", authorization: [`Bearer ${WRONG_KEY}`] })
  const wrongStatus = wrongKey.response?.status
  return [
    ...(isList ? [] : [`a list without animals returns status ${response.status}: the report gives details`]),
    `${address} responds in ${firstMs} ms and accepts the main key`,
    rate === undefined
      ? "the main key's limits are unknown: X-RateLimit-* are missing or not whole numbers"
      : `the main key's X-RateLimit-Limit is ${rate.limit}, ${rate.remaining} left`,
    created === 201
      ? "animals can be created"
      : `a creation returns status ${created}: the report gives details`,
    wrongStatus === 401
      ? "a wrong key is rejected with 401"
      : `a wrong key gets status ${wrongStatus}: the report gives details`,
    yield* examineTime(target, traffic),
    ...(yield* findTraces(traffic)),
    ...(yield* examineSmallKeys(target, traffic, wrongStatus !== 200))
  ]
})

const WRONG_KEY = "wrong-key-of-the-doctor"

const listAs = (key: "main" | "tiny" | "victim"): Sent => ({ path: "/pets?limit=1", key })

/** Maximum length of a body in an error message. */
const MAX_SHOWN = 120

const excerptOf = ({ body }: WireResponse): string => JSON.stringify(Excerpt.body(body, MAX_SHOWN))

const checkKeysDiffer = ({ keys }: HttpTarget): Effect.Effect<void, SetupError> => {
  const given = Object.entries(secretsOf(keys)).filter(([, secret]) => secret !== undefined)
  const duplicate = given.find(
    ([, secret], index) => given.findIndex(([, earlier]) => earlier === secret) < index
  )
  return duplicate === undefined
    ? Effect.void
    : failSetup(
        `the key given with --${duplicate[0]} is also given for another purpose: each purpose needs its own key`
      )
}

/** A category that is unlikely to be accepted by a server that accepts only certain categories. */
const RARE_CATEGORY = 777_777n

/**
 * Creates an animal in each of two categories, and returns the status. Fails if a category is rejected and none are
 * declared; with declared categories, a 400 breaks the contract, so the report shows it.
 */
const create = Effect.fnUntraced(function* (
  { declared }: HttpTarget,
  { name, sendOnce }: Traffic.Traffic
): Effect.fn.Return<number | undefined, SetupError | Stopped> {
  const { categories = "any" } = declared ?? {}
  let status: number | undefined
  for (const categoryId of categories === "any" ? [1n, RARE_CATEGORY] : categories.slice(0, 1)) {
    const json = PetJson.draft({ name: name(), categoryId, status: "available" })
    const { response } = yield* sendOnce({ method: "POST", path: "/pets", json })
    if (response?.status === 400 && categories === "any") {
      return yield* failSetup(
        `the server rejects the creation ${json}: ${excerptOf(response)}. If it accepts only certain categories, declare them (--category)`
      )
    }
    status = response?.status
  }
  return status
})

/** Maximum number of animals in a list, as the contract states it. */
const FULL_LIST = 100

/** Detects that an earlier run used the same server: by a time after the removal of getPet, or by many animals. */
const findTraces = Effect.fnUntraced(function* ({
  sendOnce
}: Traffic.Traffic): Effect.fn.Return<ReadonlyArray<string>, Stopped> {
  const { response, to } = yield* sendOnce({ path: `/pets?limit=${FULL_LIST}` })
  const parsed = PetJson.parse(text(response?.body))
  const animals = Result.getOrUndefined(Result.flatMap(parsed, PetJson.animals)) ?? []
  return [
    ...(to >= REMOVAL_BEGINS
      ? [
          `the server's time is ${Moment.iso(to)}, after the removal of GET /pets/{petId}, so checks of that operation cannot be decided: restart the server before each run`
        ]
      : []),
    ...(animals.length >= FULL_LIST
      ? [
          `the store has ${FULL_LIST} animals or more, so a list need not show all of them, and checks of lists may stay inconclusive: start with an empty store`
        ]
      : [])
  ]
})

/** Reports the subject's time, and checks whether the clock belongs to the subject. */
const examineTime = Effect.fnUntraced(function* (
  target: HttpTarget,
  traffic: Traffic.Traffic
): Effect.fn.Return<string, SetupError | Stopped> {
  if (traffic.hasClock) return yield* DoctorClock.examine(target, traffic)
  const { response } = yield* traffic.sendOnce(listAs("main"))
  const date = Date.parse((response && header(response, "date")) ?? "")
  const local = yield* Clock.currentTimeMillis
  return Number.isNaN(date)
    ? "no clock is given, and responses have no Date: this machine's time is used"
    : `no clock is given; the server's Date differs from this machine's time by ${Math.round(Math.abs(date - local) / 1_000)} s`
})

const isOnPlan = ({ perDay, perMinute }: Plan, limit: number | undefined): boolean =>
  limit === perMinute || limit === perDay

/** Minimum daily limit of the tiny key without a clock, and the number of its requests that a run then sends. */
const [MIN_DAY, RUN_REQUESTS] = [500, 60]

/** Sends a list request with each small key, and reports whether the keys are accepted and on their plans. */
const examineSmallKeys = Effect.fnUntraced(function* (
  { keys }: HttpTarget,
  { hasClock, sendOnce }: Traffic.Traffic,
  rejectsWrongKeys: boolean
): Effect.fn.Return<ReadonlyArray<string>, SetupError | Stopped> {
  const all: Array<{ name: "tiny" | "victim"; key: SmallKey; seen: Exchange; limit: number | undefined }> = []
  for (const name of ["tiny", "victim"] as const) {
    const key = keys[name]
    if (key === undefined) continue
    const seen = yield* sendOnce(listAs(name))
    all.push({ name, key, seen, limit: seen.response && RateHeaders.of(seen.response)?.limit })
  }
  // One wrong limit is probably a wrong declaration. If each key has a limit that is declared for none, the server is
  // probably wrong, and the report shows it. Such a server may also have the same limits for all keys.
  const isServerWrong =
    all.length > 1 &&
    all.every(({ limit }) => limit !== undefined && !all.some(({ key }) => isOnPlan(key, limit)))
  const lines: Array<string> = []
  for (const { key, limit, name, seen } of all) {
    const { perDay, perMinute } = key
    const status = seen.response?.status
    const declared = `${perMinute} requests per minute and ${perDay} per day`
    if (name === "tiny" && !hasClock && perDay < MIN_DAY) {
      lines.push(
        `without a clock (--clock), the tiny key's ${perDay} requests per day may not suffice for checks of limits: each run uses up about ${RUN_REQUESTS} of them, so give the key ${MIN_DAY} or more`
      )
    }
    if (status === 401 || status === 403) {
      return yield* failSetup(`the server rejects the key given with --${name} with status ${status}`)
    }
    if (status !== 200 && status !== 429) {
      lines.push(
        `a list with the key given with --${name} returns status ${status}: the report gives details`
      )
    } else if (limit === undefined) lines.push(`the ${name} key is accepted, without a limit in the response`)
    else if (isOnPlan(key, limit)) lines.push(`the ${name} key is on the declared plan: ${declared}`)
    else if (isServerWrong || !rejectsWrongKeys) {
      lines.push(`the ${name} key's X-RateLimit-Limit is ${limit}, but ${declared} are declared`)
    } else {
      return yield* failSetup(
        `the key given with --${name} is not on the declared plan: its X-RateLimit-Limit is ${limit}, but ${declared} are declared`
      )
    }
  }
  return lines
})
