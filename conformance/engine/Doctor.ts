/**
 * Checks the set-up before a run over HTTP, so that an error is reported in one sentence and not as a cascade of
 * failures.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Moment from "../http/Moment.ts"
import * as PetJson from "../http/PetJson.ts"
import { excerpt } from "../http/Printable.ts"
import * as RateHeaders from "../http/RateHeaders.ts"
import { REMOVAL_BEGINS } from "../http/Removal.ts"
import type { WireResponse } from "../http/Wire.ts"
import type { Sent, Stopped } from "../programs/Program.ts"
import type * as Traffic from "../programs/Traffic.ts"
import { type HttpSubject, type HttpTarget, secretsOf } from "../subjects/HttpSubject.ts"
import * as Estimate from "./Estimate.ts"
import * as JudgedRun from "./JudgedRun.ts"
import type { Selection } from "./Selection.ts"
import { failSetup, SetupError } from "./SetupError.ts"

const failClock = (reason: string) => failSetup(`the clock (--clock) does not work: ${reason}`)

/** A set-up that allows a run. */
export interface Examined {
  readonly traffic: Traffic.Traffic
  /** What was found, and the estimated cost of the run. */
  readonly lines: ReadonlyArray<string>
}

/** Begins a run with an examination of the set-up; fails with the first error. */
export const examine = Effect.fnUntraced(function* (
  subject: HttpSubject,
  selection: Selection
): Effect.fn.Return<Examined, SetupError> {
  const { redact, target } = subject
  const traffic = yield* Effect.catchTag(JudgedRun.open(subject), "Stopped", ({ reason }) =>
    failClock(reason)
  )
  const lines = yield* Effect.mapError(
    examineServer(target, traffic),
    ({ reason }) => new SetupError({ reason: redact(reason) })
  )
  return { traffic, lines: [...lines, ...Estimate.lines(subject, selection, traffic)].map(redact) }
})

type Lines = Effect.fn.Return<ReadonlyArray<string>, SetupError | Stopped>

const WRONG_KEY = "wrong-key-of-the-doctor"

/** Maximum number of animals in a list, as the contract states it. */
const FULL_LIST = 100

const listAs = (key: "main" | "tiny" | "victim"): Sent => ({ path: "/pets?limit=1", key })

const isRejection = (status: number | undefined): boolean => status === 401 || status === 403

const examineServer = Effect.fnUntraced(function* (target: HttpTarget, traffic: Traffic.Traffic): Lines {
  const address = target.baseUrl ?? target.name
  const keys = Object.entries(secretsOf(target.keys)).filter(([, secret]) => secret !== undefined)
  const duplicate = keys.find(([, secret], at) => keys.findIndex(([, first]) => first === secret) < at)
  if (duplicate !== undefined) {
    return yield* failSetup(
      `the key given with --${duplicate[0]} is also given for another purpose: each purpose needs its own key`
    )
  }
  const begun = yield* Clock.currentTimeMillis
  const { missing, response } = yield* traffic.sendOnce(listAs("main"))
  const ms = (yield* Clock.currentTimeMillis) - begun
  if (response === undefined) {
    return traffic.isReachable()
      ? [`a response cannot be read: ${missing}; the report gives details`]
      : yield* failSetup(`cannot reach ${address}: ${missing}`)
  }
  const { status } = response
  if (isRejection(status))
    return yield* failSetup(`the server rejects the main key (--key) with status ${status}`)
  const isList = status === 200 || status === 429
  const created = yield* create(traffic)
  // If a creation succeeds, the address is correct, and the list should have been an empty array (contract §4.1).
  if (!isList && created !== 201) {
    const path = `GET ${target.basePath}/pets`
    return yield* failSetup(
      status === 404
        ? `${path} returns 404: the address (--url) must be the base address, such as http://127.0.0.1:3000/v1`
        : `${path} with the main key returns status ${status}: ${excerptOf(response)}`
    )
  }
  const wrong = yield* traffic.sendOnce({ path: "/pets?limit=1", authorization: [`Bearer ${WRONG_KEY}`] })
  const wrongStatus = wrong.response?.status
  const rate = RateHeaders.of(response)
  return [
    ...(isList ? [] : [`a list without animals returns status ${status}: the report gives details`]),
    `${address} responds in ${ms} ms and accepts the main key`,
    rate === undefined
      ? "the main key's limits are unknown: X-RateLimit-* are missing or not whole numbers"
      : `the main key's X-RateLimit-Limit is ${rate.limit}, ${rate.remaining} left`,
    created === 201
      ? "animals can be created"
      : `a creation returns status ${created}: the report gives details`,
    wrongStatus === 401
      ? "a wrong key is rejected with 401"
      : `a wrong key gets status ${wrongStatus}: the report gives details`,
    ...(traffic.hasClock ? [yield* examineClock(traffic)] : []),
    ...(yield* findTraces(traffic)),
    ...(yield* examineSmallKeys(traffic, wrongStatus !== 200))
  ]
})

/** Maximum length of a body in an error message. */
const MAX_SHOWN = 120

const excerptOf = ({ body }: WireResponse): string => JSON.stringify(excerpt(body, MAX_SHOWN))

/** A category that is unlikely to be accepted by a server that accepts only certain categories. */
const RARE_CATEGORY = 777_777n

/**
 * Creates an animal in each of two categories, and returns the last status. Fails if a category is rejected and none are
 * declared; with declared categories, a 400 breaks the contract, so the report shows it.
 */
const create = Effect.fnUntraced(function* ({
  categories,
  name,
  sendOnce
}: Traffic.Traffic): Effect.fn.Return<number | undefined, SetupError | Stopped> {
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

/** Detects that an earlier run used the same server: by a time after the removal of getPet, or by many animals. */
const findTraces = Effect.fnUntraced(function* ({ sendOnce }: Traffic.Traffic): Lines {
  const { response, to } = yield* sendOnce({ path: `/pets?limit=${FULL_LIST}` })
  const isFull = PetJson.listedIn(response).length >= FULL_LIST
  const late = `the server's time is ${Moment.iso(to)}, after the removal of GET /pets/{petId}, so checks of that operation cannot be decided: restart the server before each run`
  const full = `the store has ${FULL_LIST} animals or more, so a list need not show all of them, and checks of lists may stay inconclusive: start with an empty store`
  return [...(to >= REMOVAL_BEGINS ? [late] : []), ...(isFull ? [full] : [])]
})

const DAY_MS = 86_400_000

/**
 * Moves of the clock in milliseconds, each with the minimum by which `X-RateLimit-Reset` must then move. The first one
 * refills the per-minute limit. Real time alone moves the Reset of the minute by at most a minute, and that of the day by
 * at most a day.
 */
const moves = [
  { by: 61_000, minimum: Infinity },
  { by: 150_000, minimum: 90_000 },
  { by: 3 * DAY_MS, minimum: 1.5 * DAY_MS }
]

/** Maximum number of requests that may be sent to use up the limit of a small key. */
const MAX_REQUESTS = 250

/** Real time may end a wait of up to this many seconds, so a refill after it proves nothing. */
const MAX_REAL_WAIT_SECONDS = 2

/**
 * Checks whether the clock belongs to the subject: `X-RateLimit-Reset` must move with it, or the limit of a key be
 * refilled. `Date` proves nothing, because many servers write the machine's time into it.
 */
const examineClock = Effect.fnUntraced(function* ({
  advance,
  keys,
  now,
  sendOnce
}: Traffic.Traffic): Effect.fn.Return<string, SetupError | Stopped> {
  const move = Effect.fnUntraced(function* (ms: number) {
    yield* Effect.catchTag(advance(ms), "Stopped", ({ reason }) => failClock(reason))
    return `the clock can be moved, and shows ${Moment.iso(yield* now)}`
  })
  let before: number | undefined
  for (const { by, minimum } of moves) {
    const proven = yield* move(by)
    const { response } = yield* sendOnce(listAs("main"))
    const after = response && RateHeaders.of(response)?.resetAt
    if (before !== undefined && after !== undefined && (after - before) * 1_000 >= minimum) return proven
    before = after
  }
  for (let sent = 0; keys.tiny !== undefined && sent < MAX_REQUESTS; sent++) {
    const { response, to } = yield* sendOnce(listAs("tiny"))
    if (response?.status !== 429) continue
    const seconds = RateHeaders.retryAfterSeconds(response, to) ?? 60
    const proven = yield* move(Math.max(seconds, MAX_REAL_WAIT_SECONDS) * 1_000)
    const isRefilled = (yield* sendOnce(listAs("tiny"))).response?.status === 200
    if (isRefilled && seconds > MAX_REAL_WAIT_SECONDS) return proven
    break
  }
  return before === undefined
    ? "the clock can be moved, but whether it belongs to this server is unknown without X-RateLimit-Reset"
    : yield* failClock(
        "it was advanced by 3 days, but the server's X-RateLimit-Reset hardly moved: it belongs to another server, or X-RateLimit-Reset does not follow the time (§8.3), which a run without a clock shows"
      )
})

/** Minimum daily limit of the tiny key without a clock, and the number of its requests that a run then sends. */
const [MIN_DAY, RUN_REQUESTS] = [500, 60]

/** Sends a list request with each small key, and reports whether the keys are accepted and on their plans. */
const examineSmallKeys = Effect.fnUntraced(function* (
  { hasClock, keys, sendOnce }: Traffic.Traffic,
  rejectsWrongKeys: boolean
): Lines {
  const names = (["tiny", "victim"] as const).filter((name) => keys[name] !== undefined)
  const all = yield* Effect.forEach(names, (name) =>
    Effect.map(sendOnce(listAs(name)), ({ response }) => {
      const { perDay = 0, perMinute = 0 } = keys[name] ?? {}
      const limit = response && RateHeaders.of(response)?.limit
      return { name, perDay, perMinute, limit, status: response?.status }
    })
  )
  // One wrong limit is probably a wrong declaration. If each key has a limit that is declared for none, the server is
  // probably wrong, and the report shows it. Such a server may also have the same limits for all keys.
  const declared = all.flatMap(({ perDay, perMinute }) => [perMinute, perDay])
  const isServerWrong =
    all.length > 1 && all.every(({ limit }) => limit !== undefined && !declared.includes(limit))
  const { perDay = MIN_DAY } = keys.tiny ?? {}
  const small = `without a clock (--clock), the tiny key's ${perDay} requests per day may not suffice for checks of limits: each run uses up about ${RUN_REQUESTS} of them, so give the key ${MIN_DAY} or more`
  const lines = yield* Effect.forEach(all, ({ limit, name, perDay, perMinute, status }) => {
    const plan = `${perMinute} requests per minute and ${perDay} per day`
    const wrongLimit = `X-RateLimit-Limit is ${limit}, but ${plan} are declared`
    if (isRejection(status))
      return failSetup(`the server rejects the key given with --${name} with status ${status}`)
    if (status !== 200 && status !== 429)
      return Effect.succeed(
        `a list with the key given with --${name} returns status ${status}: the report gives details`
      )
    if (limit === undefined)
      return Effect.succeed(`the ${name} key is accepted, without a limit in the response`)
    if (limit === perMinute || limit === perDay)
      return Effect.succeed(`the ${name} key is on the declared plan: ${plan}`)
    return isServerWrong || !rejectsWrongKeys
      ? Effect.succeed(`the ${name} key's ${wrongLimit}`)
      : failSetup(`the key given with --${name} is not on the declared plan: its ${wrongLimit}`)
  })
  return [...(hasClock || perDay >= MIN_DAY ? [] : [small]), ...lines]
})
