/** Writes the history of a violation as a case without keys, and replays it. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Level } from "../clauses/Clause.ts"
import type { Step as ReportedStep } from "../clauses/Finding.ts"
import * as CreatedAnimal from "../http/CreatedAnimal.ts"
import * as PetJson from "../http/PetJson.ts"
import { type Header, text } from "../http/Wire.ts"
import type { Exchange, Violation } from "../model/Exchange.ts"
import * as PortRun from "../ports/PortRun.ts"
import type { Sent, Stopped } from "../programs/Program.ts"
import * as HttpSubject from "../subjects/HttpSubject.ts"
import * as KeyText from "../subjects/KeyText.ts"
import * as PortSubject from "../subjects/PortSubject.ts"
import type { Subject } from "../subjects/Subject.ts"
import * as Doctor from "./Doctor.ts"
import * as JudgedRun from "./JudgedRun.ts"
import type { ReplayToken } from "./ReplayToken.ts"
import type { SetupError } from "./SetupError.ts"
import * as Steps from "./Steps.ts"

const Step = Schema.Struct({
  /** Milliseconds since the step before. */
  wait: Schema.Int,
  method: Schema.String,
  path: KeyText.KeyText,
  headers: Schema.Array(Schema.Tuple([Schema.String, KeyText.KeyText])),
  body: Schema.optionalKey(KeyText.KeyText),
  /** A body that is not text, in base64. */
  bytes: Schema.optionalKey(Schema.String),
  /** The status of the response in the run; 0 if there was none. */
  status: Schema.Int,
  /** How many animals the response listed in the run. */
  listed: Schema.optionalKey(Schema.Int),
  /** The id of the animal that the step created in the run. */
  created: Schema.optionalKey(Schema.String),
  /** Whether it was in flight together with the step before. */
  isTogether: Schema.optionalKey(Schema.Boolean)
})
type Step = typeof Step.Type

const Case = Schema.Struct({
  level: Schema.Literals(["spec", "design"]),
  /** The server's time at the first step, in epoch ms. */
  at: Schema.Int,
  steps: Schema.Array(Step)
})
const CaseJson = Schema.fromJsonString(Case)

/** Returns the history as text that `replay` accepts; `undefined` if it would contain a key. */
export const encode = (
  exchanges: ReadonlyArray<Exchange>,
  level: Level,
  { redact, secrets, target }: Pick<HttpSubject.HttpSubject, "redact" | "secrets" | "target">
): string | undefined => {
  const textOf = (given: string) => KeyText.of(given, secrets)
  const steps = exchanges.map((exchange, index): Step => {
    const { body, headers, method, target: full } = exchange.request
    const before = exchanges[index - 1]
    const animal = exchange.response && CreatedAnimal.of({ ...exchange, response: exchange.response })
    const listed = listedBy(exchange)
    const content = text(body)
    const isText = Buffer.from(content).equals(Buffer.from(body ?? []))
    return {
      wait: Steps.waitBetween(before, exchange),
      method,
      path: textOf(full.slice(target.basePath.length)),
      headers: headers.map(([name, value]) => [name, textOf(value)] as const),
      ...(body === undefined
        ? {}
        : isText
          ? { body: textOf(content) }
          : { bytes: Buffer.from(body).toString("base64") }),
      status: exchange.response?.status ?? 0,
      ...(listed === 0 ? {} : { listed }),
      ...(animal === undefined ? {} : { created: String(animal.id) }),
      ...(before !== undefined && !before.isAlone && !exchange.isAlone ? { isTogether: true } : {})
    }
  })
  const json = JSON.stringify({ level, at: Math.round(exchanges[0]?.from ?? 0), steps })
  return redact(json) === json ? json : undefined
}

/** Returns the number of animals in the list of a response. */
const listedBy = ({ response }: Pick<Exchange, "response">): number =>
  Result.match(Result.flatMap(PetJson.parse(text(response?.body)), PetJson.animals), {
    onFailure: () => 0,
    onSuccess: ({ length }) => length
  })

export interface Replayed {
  /** `not-replayable`: the case cannot be replayed on this subject. */
  readonly outcome: "fixed" | "failed" | "not-replayable"
  /** How the law still fails, or why the case cannot be replayed. */
  readonly reason?: string
  readonly steps: ReadonlyArray<ReportedStep>
}

const notReplayable = (reason: string): Replayed => ({ outcome: "not-replayable", reason, steps: [] })

const ended = (
  violation: Pick<Violation, "expected" | "actual"> | undefined,
  steps: ReadonlyArray<ReportedStep>
): Replayed =>
  violation === undefined
    ? { outcome: "fixed", steps }
    : { outcome: "failed", reason: `expected ${violation.expected}, got ${violation.actual}`, steps }

/** Maximum number of requests that are sent to use up a key's limit. */
const MAX_REPEATS = 200

/** Number of tries of a case with concurrent requests, whose order differs each time. */
const TRIES = 5

/** Replays the case of a token on a subject. */
export const replay = (subject: Subject, token: ReplayToken): Effect.Effect<Replayed, SetupError> => {
  if (HttpSubject.is(subject)) return replayRequests(subject, token)
  return PortSubject.is(subject)
    ? Effect.match(PortRun.replay(subject.target, token.case), {
        onFailure: ({ message }) => notReplayable(message),
        onSuccess: (finding) => ended(finding, finding?.steps ?? [])
      })
    : Effect.succeed(notReplayable(`${subject.name} is no subject of this suite`))
}

/** Replays the case of a token on a server, after a look at its set-up. */
const replayRequests = Effect.fnUntraced(function* (
  subject: HttpSubject.HttpSubject,
  token: ReplayToken
): Effect.fn.Return<Replayed, SetupError> {
  const decoded = Schema.decodeUnknownResult(CaseJson)(token.case)
  if (Result.isFailure(decoded)) return notReplayable("the token contains no case")
  const given = decoded.success
  const { level } = given
  yield* Doctor.examine(subject, { level })
  const tries = given.steps.some(({ isTogether = false }) => isTogether) ? TRIES : 1
  let replayed: Replayed = notReplayable("nothing was tried")
  for (let attempt = 0; attempt < tries; attempt++) {
    replayed = yield* Effect.catchTag(once(subject, given, token.check), "Stopped", ({ reason }) =>
      Effect.succeed(notReplayable(reason))
    )
    if (replayed.outcome !== "fixed") break
  }
  return replayed
})

/** Returns the request of a step; `undefined` if a key is not known. `ids` are those of the animals created again. */
const sentOf = (
  { body, bytes, headers, method, path }: Step,
  secrets: KeyText.Secrets,
  ids: ReadonlyMap<string, string>
): Sent | undefined => {
  const resolve = (given: KeyText.KeyText) => KeyText.resolve(given, secrets)
  const resolved = headers.flatMap(([name, value]): ReadonlyArray<Header> => {
    const known = resolve(value)
    return known === undefined ? [] : [[name, known]]
  })
  const [target, content] = [resolve(path), body && resolve(body)]
  if (target === undefined || resolved.length < headers.length || (body && content === undefined))
    return undefined
  const isCredential = ([name]: Header) => name === "Authorization"
  return {
    method,
    path: target.replace(/(?<=^\/pets\/)\d+/, (id) => ids.get(id) ?? id),
    authorization: resolved.filter(isCredential).map(([, value]) => value),
    headers: resolved.filter((header) => !isCredential(header)),
    ...(bytes === undefined ? {} : { body: new Uint8Array(Buffer.from(bytes, "base64")) }),
    ...(content === undefined ? {} : { body: content })
  }
}

/** Sends the requests of a case, those that were in flight together at the same time. */
const once = Effect.fnUntraced(function* (
  subject: HttpSubject.HttpSubject,
  { at, level, steps }: typeof Case.Type,
  clause: string
): Effect.fn.Return<Replayed, Stopped> {
  const { budget, secrets, target } = subject
  const { close, exchanges, traffic, violations } = yield* JudgedRun.open(target, { budget, level })
  if (traffic.hasClock) yield* traffic.advance(untilTimeOfDay(at, yield* traffic.now))
  const ids = new Map<string, string>()
  for (let next = 0; next < steps.length; ) {
    const end = steps.findIndex(({ isTogether = false }, index) => index > next && !isTogether)
    const group = steps.slice(next, end === -1 ? undefined : end)
    const sent = group.map((step) => sentOf(step, secrets, ids))
    if (!sent.every((each) => each !== undefined)) return notReplayable("it needs a key that is not declared")
    const [first] = group
    yield* traffic.advance(first?.wait ?? 0)
    for (let repeats = 0; repeats < MAX_REPEATS; repeats++) {
      const responses = yield* Effect.forEach(sent, traffic.sendOnce, { concurrency: "unbounded" })
      for (const [index, { request, response }] of responses.entries()) {
        const created = group[index]?.created
        const animal = response && CreatedAnimal.of({ request, response })
        if (created !== undefined && animal !== undefined) ids.set(created, String(animal.id))
      }
      // To reproduce a 429, the key's limit is used up first.
      if (group.length > 1 || first?.status !== 429 || responses[0]?.response?.status === 429) break
    }
    next += group.length
  }
  close()
  const violation = violations.find((each) => each.clause === clause)
  const reason = exchanges.length > steps.length ? undefined : differenceOf(steps, exchanges)
  return violation === undefined && reason !== undefined
    ? notReplayable(reason)
    : ended(violation, Steps.of(exchanges, subject, false))
})

/** Returns why a replay does not reach the situation of the run, such as a store that lacks the animals of the run. */
const differenceOf = (steps: ReadonlyArray<Step>, exchanges: ReadonlyArray<Exchange>): string | undefined => {
  for (const [index, { listed = 0, status }] of steps.entries()) {
    const exchange = exchanges[index]
    if (exchange === undefined) return undefined
    const { did, response } = exchange
    const now = listedBy(exchange)
    if (now < listed) return `${did} listed ${listed} animals in the run, but lists ${now} now`
    // The last response may differ, because it is the one that was wrong.
    if (index < steps.length - 1 && status !== response?.status)
      return `${did} got ${status} in the run, but gets ${response?.status ?? "nothing"} now`
  }
  return undefined
}

const DAY_MS = 86_400_000

/** Returns how far to move a clock so that limits are refilled, and the time of day is as in the run. */
const untilTimeOfDay = (at: number, now: number): number => {
  const earliest = now + 2 * DAY_MS
  return at >= earliest ? at - now : earliest - now + ((((at - earliest) % DAY_MS) + DAY_MS) % DAY_MS)
}
