/** Writes the history of a violation as a case without keys, and replays it. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Level } from "../clauses/Clause.ts"
import type { Step as ReportedStep } from "../evaluation/Finding.ts"
import * as CreatedAnimal from "../http/CreatedAnimal.ts"
import { text } from "../http/Wire.ts"
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

const Text = Schema.Union([Schema.String, KeyText.KeyText])

const Step = Schema.Struct({
  /** Milliseconds since the step before. */
  wait: Schema.Int,
  method: Schema.String,
  path: Text,
  headers: Schema.Array(Schema.Tuple([Schema.String, Text])),
  body: Schema.optionalKey(Text),
  /** A body that is not text, in base64. */
  bytes: Schema.optionalKey(Schema.String),
  /** The status of the response in the run; 0 if there was none. */
  status: Schema.Int,
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
  const textOf = (given: string) => {
    const pieces = KeyText.of(given, secrets)
    return pieces.length === 0 ? "" : pieces.every((piece) => typeof piece === "string") ? given : pieces
  }
  const steps = exchanges.map((exchange, index): Step => {
    const { body, headers, method, target: full } = exchange.request
    const before = exchanges[index - 1]
    const animal = exchange.response && CreatedAnimal.of({ ...exchange, response: exchange.response })
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
      ...(animal === undefined ? {} : { created: String(animal.id) }),
      ...(before !== undefined && !before.isAlone && !exchange.isAlone ? { isTogether: true } : {})
    }
  })
  const json = JSON.stringify({ level, at: Math.round(exchanges[0]?.from ?? 0), steps })
  return redact(json) === json ? json : undefined
}

/**
 * - `fixed`: the law now holds.
 * - `failed`: the law still fails.
 * - `not-replayable`: the case cannot be replayed on this subject.
 */
export type Replayed =
  | { readonly outcome: "fixed"; readonly steps: ReadonlyArray<ReportedStep> }
  | {
      readonly outcome: "failed"
      readonly violation: Pick<Violation, "expected" | "actual">
      readonly steps: ReadonlyArray<ReportedStep>
    }
  | { readonly outcome: "not-replayable"; readonly reason: string }

const notReplayable = (reason: string): Replayed => ({ outcome: "not-replayable", reason })

/** Maximum number of requests that are sent to use up a key's limit. */
const MAX_REPEATS = 200

/** Number of tries of a case with concurrent requests, whose order differs each time. */
const TRIES = 5

/** Replays the case of a token on storage ports. */
const replayCalls = ({ target }: PortSubject.PortSubject, token: ReplayToken): Effect.Effect<Replayed> =>
  Effect.match(PortRun.replay(target, token.case), {
    onFailure: ({ reason }) => notReplayable(reason),
    onSuccess: (finding): Replayed =>
      finding === undefined
        ? { outcome: "fixed", steps: [] }
        : { outcome: "failed", violation: finding, steps: finding.steps }
  })

/** Replays the case of a token on a subject. */
export const replay = (subject: Subject, token: ReplayToken): Effect.Effect<Replayed, SetupError> =>
  HttpSubject.is(subject)
    ? replayRequests(subject, token)
    : PortSubject.is(subject)
      ? replayCalls(subject, token)
      : Effect.succeed(notReplayable(`${subject.name} is no subject of this suite`))

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

const once = Effect.fnUntraced(function* (
  subject: HttpSubject.HttpSubject,
  { at, level, steps }: typeof Case.Type,
  clause: string
): Effect.fn.Return<Replayed, Stopped> {
  const { budget, secrets, target } = subject
  const session = yield* JudgedRun.open(target, { budget, level })
  const { exchanges, traffic } = session
  if (traffic.hasClock) yield* traffic.advance(untilTimeOfDay(at, yield* traffic.now))
  const ids = new Map<string, string>()
  const sentOf = (step: Step): Sent | undefined => {
    const resolve = (given: typeof Text.Type) =>
      typeof given === "string" ? given : KeyText.resolve(given, secrets)
    const path = resolve(step.path)?.replace(/(?<=^\/pets\/)\d+/, (id) => ids.get(id) ?? id)
    const headers = step.headers.map(([name, value]) => [name, resolve(value)] as const)
    const body = step.body === undefined ? undefined : resolve(step.body)
    const isKnown = (header: readonly [string, string | undefined]): header is readonly [string, string] =>
      header[1] !== undefined
    if (path === undefined || !headers.every(isKnown)) return undefined
    const content = step.bytes === undefined ? body : new Uint8Array(Buffer.from(step.bytes, "base64"))
    const isCredential = ([name]: readonly [string, string]) => name === "Authorization"
    return {
      method: step.method,
      path,
      authorization: headers.filter(isCredential).map(([, value]) => value),
      headers: headers.filter((header) => !isCredential(header)),
      ...(content === undefined ? {} : { body: content })
    }
  }
  for (let next = 0; next < steps.length; ) {
    let end = next + 1
    while (steps[end]?.isTogether === true) end++
    const group = steps.slice(next, end)
    const sent = group.map(sentOf)
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
    next = end
  }
  session.close()
  const violation = session.violations.find((each) => each.clause === clause)
  const shown = Steps.of(exchanges, subject, false)
  if (violation !== undefined) return { outcome: "failed", violation, steps: shown }
  // The last response may differ, because it is the one that was wrong.
  const other = steps
    .slice(0, -1)
    .findIndex(({ status }, index) => status !== exchanges[index]?.response?.status)
  const [then, now] = [steps[other], exchanges[other]]
  return then === undefined || now === undefined || exchanges.length > steps.length
    ? { outcome: "fixed", steps: shown }
    : notReplayable(
        `${now.did} got ${then.status} in the run, but gets ${now.response?.status ?? "nothing"} now`
      )
})

const DAY_MS = 86_400_000

/** Returns how far to move a clock so that limits are refilled, and the time of day is as in the run. */
const untilTimeOfDay = (at: number, now: number): number => {
  const earliest = now + 2 * DAY_MS
  return at >= earliest ? at - now : earliest - now + ((((at - earliest) % DAY_MS) + DAY_MS) % DAY_MS)
}
