/** Writes the history of a violation over HTTP as a token without keys, and replays it. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Level } from "../clauses/Clause.ts"
import type { Step as ReportedStep } from "../clauses/Finding.ts"
import * as PetJson from "../http/PetJson.ts"
import type { Header } from "../http/Wire.ts"
import type { Exchange } from "../model/Exchange.ts"
import type { Sent, Stopped } from "../programs/Program.ts"
import type { HttpSubject } from "../subjects/HttpSubject.ts"
import * as KeyText from "../subjects/KeyText.ts"
import * as Doctor from "./Doctor.ts"
import * as JudgedRun from "./JudgedRun.ts"
import * as Judges from "./Judges.ts"
import * as ReplayToken from "./ReplayToken.ts"
import { of as select, type UnknownSelection } from "./Selection.ts"
import type { SetupError } from "./SetupError.ts"
import * as Steps from "./Steps.ts"

const Step = Schema.Struct({
  /** Milliseconds since the step before. */
  wait: Schema.Int,
  method: Schema.String,
  path: Schema.String,
  headers: Schema.Array(Schema.Tuple([Schema.String, Schema.String])),
  /** The bytes of the body as Latin-1, so that each is a character. */
  body: Schema.optional(Schema.String),
  /** The status of the response in the run; 0 if there was none. */
  status: Schema.Int,
  /** How many animals the response listed in the run. */
  listed: Schema.Int,
  /** The id of the animal that the step created in the run. */
  created: Schema.optional(Schema.String),
  /** Whether it was in flight together with the step before. */
  isTogether: Schema.Boolean
})
type Step = typeof Step.Type

const Case = Schema.Struct({
  level: Schema.Literals(["spec", "design"]),
  /** The server's time at the first step, in epoch ms. */
  at: Schema.Int,
  steps: Schema.Array(Step)
})
const decodeCase = Schema.decodeUnknownOption(Schema.fromJsonString(Case))

/** The JSON of a case, without keys, in JSON. */
const decodeText = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.String))

/** Maximum length of a token, so that it can be copied. */
const MAX_TOKEN = 12_000

/** Returns a token for the history; `undefined` if it would contain a key, or be too long. */
export const tokenOf = (
  check: string,
  exchanges: ReadonlyArray<Exchange>,
  level: Level,
  { redact, secrets, target }: Pick<HttpSubject, "redact" | "secrets" | "target">
): string | undefined => {
  const steps = exchanges.map((exchange, index): Step => {
    const { body, headers, method, target: full } = exchange.request
    const before = exchanges[index - 1]
    const animal = exchange.response && PetJson.createdBy({ ...exchange, response: exchange.response })
    return {
      wait: Steps.waitBetween(before, exchange),
      method,
      path: full.slice(target.basePath.length),
      headers,
      body: body && Buffer.from(body).toString("latin1"),
      status: exchange.response?.status ?? 0,
      listed: PetJson.listedIn(exchange.response).length,
      created: animal && String(animal.id),
      isTogether: before !== undefined && !before.isAlone && !exchange.isAlone
    }
  })
  const content: typeof Case.Type = { level, at: Math.round(exchanges[0]?.from ?? 0), steps }
  const json = JSON.stringify(KeyText.of(JSON.stringify(content), secrets))
  const token = redact(json) === json ? ReplayToken.encode({ check, case: json }) : ""
  return token === "" || token.length > MAX_TOKEN ? undefined : token
}

export interface Replayed {
  /** `not-replayable`: the case cannot be replayed on this subject. */
  readonly outcome: "fixed" | "failed" | "not-replayable"
  /** How the law still fails, or why the case cannot be replayed. */
  readonly reason?: string
  readonly steps: ReadonlyArray<ReportedStep>
}

const notReplayable = (reason: string): Replayed => ({ outcome: "not-replayable", reason, steps: [] })

/** Maximum number of requests that are sent to use up a key's limit. */
const MAX_REPEATS = 200

/** Number of tries of a case with concurrent requests, whose order differs each time. */
const TRIES = 5

/** Replays the case of a token on a server, after a look at its set-up. */
export const replay = Effect.fnUntraced(function* (
  subject: HttpSubject,
  token: ReplayToken.ReplayToken
): Effect.fn.Return<Replayed, SetupError | UnknownSelection> {
  const written = decodeText(token.case)
  const json = Option.map(written, (text) => KeyText.resolve(text, subject.secrets))
  const given = Option.flatMap(json, decodeCase)
  if (Option.isNone(given)) {
    const isKnown = Option.isNone(json) || json.value !== undefined
    return notReplayable(isKnown ? "the token contains no case" : "it needs a key that is not declared")
  }
  const { level, steps } = given.value
  yield* Doctor.examine(subject, yield* Effect.fromResult(select(subject, { level })))
  return yield* once(subject, given.value, token.check).pipe(
    Effect.catchTag("Stopped", ({ reason }) => Effect.succeed(notReplayable(reason))),
    Effect.repeat({
      times: steps.some(({ isTogether }) => isTogether) ? TRIES - 1 : 0,
      while: ({ outcome }) => outcome === "fixed"
    })
  )
})

/** Returns the request of a step; `ids` are those of the animals created again. */
const sentOf = ({ body, headers, method, path }: Step, ids: ReadonlyMap<string, string>): Sent => {
  const isCredential = ([name]: Header) => name === "Authorization"
  return {
    method,
    path: path.replace(/(?<=^\/pets\/)-?\d+/, (id) => ids.get(id) ?? id),
    authorization: headers.filter(isCredential).map(([, value]) => value),
    headers: headers.filter((header) => !isCredential(header)),
    ...(body === undefined ? {} : { body: new Uint8Array(Buffer.from(body, "latin1")) })
  }
}

/** Sends the requests of a case, those that were in flight together at the same time. */
const once = Effect.fnUntraced(function* (
  subject: HttpSubject,
  { at, level, steps }: typeof Case.Type,
  clause: string
): Effect.fn.Return<Replayed, Stopped> {
  const exchanges: Array<Exchange> = []
  const traffic = yield* JudgedRun.open({ ...subject, exchanges })
  if (traffic.hasClock) yield* traffic.advance(untilTimeOfDay(at, yield* traffic.now))
  const ids = new Map<string, string>()
  const last: Array<Exchange> = []
  for (let next = 0; next < steps.length; ) {
    const end = steps.findIndex(({ isTogether }, index) => index > next && !isTogether)
    const group = steps.slice(next, end === -1 ? undefined : end)
    const [first] = group
    yield* traffic.advance(first?.wait ?? 0)
    for (let repeats = 0; repeats < MAX_REPEATS; repeats++) {
      const responses = yield* Effect.forEach(group, (step) => traffic.sendOnce(sentOf(step, ids)), {
        concurrency: "unbounded"
      })
      for (const [index, { request, response }] of responses.entries()) {
        const created = group[index]?.created
        const animal = response && PetJson.createdBy({ request, response })
        if (created !== undefined && animal !== undefined) ids.set(created, String(animal.id))
      }
      // To reproduce a 429, the key's limit is used up first.
      if (group.length > 1 || first?.status !== 429 || responses[0]?.response?.status === 429) break
    }
    last.push(...exchanges.slice(-group.length))
    next += group.length
  }
  const violations = Judges.violationsOf(JudgedRun.setupOf(subject.target), level, exchanges)
  const violation = violations.find((each) => each.clause === clause)
  const reason = differenceOf(steps, last)
  if (violation === undefined && reason !== undefined) return notReplayable(reason)
  const shown = Steps.of(exchanges, subject, false)
  return violation === undefined
    ? { outcome: "fixed", steps: shown }
    : { outcome: "failed", reason: `expected ${violation.expected}, got ${violation.actual}`, steps: shown }
})

/** Returns why a replay does not reach the situation of the run, such as a store that lacks the animals of the run. */
const differenceOf = (steps: ReadonlyArray<Step>, exchanges: ReadonlyArray<Exchange>): string | undefined => {
  for (const [index, { listed, status }] of steps.entries()) {
    const exchange = exchanges[index]
    if (exchange === undefined) return undefined
    const { did, response } = exchange
    const now = PetJson.listedIn(response).length
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
