/** Records every exchange of a run in process, so that the model can judge it, as it was or with mutated responses. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Level } from "../clauses/Clause.ts"
import * as Judges from "../engine/Judges.ts"
import type { Transport, WireResponse } from "../http/Wire.ts"
import type { Exchange, Setup, Violation } from "../model/Exchange.ts"
import * as Model from "../model/Model.ts"
import * as HttpSubject from "../subjects/HttpSubject.ts"
import * as ServiceTarget from "../subjects/ServiceTarget.ts"
import type { Subject } from "../subjects/Subject.ts"
import * as BriefRun from "./BriefRun.ts"
import type { World } from "./Fault.ts"
import * as SelfTest from "./SelfTest.ts"

export interface Recording {
  readonly setup: Setup
  readonly exchanges: ReadonlyArray<Exchange>
}

/** Returns a transport that reports each exchange, with the time of the subject's clock. */
export const tap = (
  { clock, transport }: HttpSubject.HttpTarget,
  record: (exchange: Exchange) => void
): Transport => {
  let [inFlight, sent] = [0, 0]
  const now = clock?.now ?? Effect.succeed(Number.NaN)
  return (request) =>
    Effect.gen(function* () {
      const wasAlone = inFlight++ === 0
      const ordinal = ++sent
      const from = yield* now
      const finish = (response: WireResponse | undefined) =>
        Effect.map(now, (to) => {
          inFlight--
          record({
            index: ordinal - 1,
            did: `${request.method} ${request.target}`,
            request,
            response,
            from,
            to,
            isAlone: wasAlone && sent === ordinal
          })
        })
      return yield* transport(request).pipe(
        Effect.tap(finish),
        Effect.tapError(() => finish(undefined))
      )
    })
}

/** Returns what a user declares about a subject in process. */
export const setupOf = ({ basePath, declared, keys }: HttpSubject.HttpTarget): Setup => {
  const { expired, main, revoked, tiny, victim } = keys
  return {
    basePath,
    categories: declared?.categories ?? "any",
    keys: [
      { name: "main", secret: main, plan: ServiceTarget.plans.main, isValid: true },
      ...(tiny === undefined
        ? []
        : [{ name: "tiny", secret: tiny.secret, plan: tiny, isValid: true } as const]),
      ...(victim === undefined
        ? []
        : [{ name: "victim", secret: victim.secret, plan: victim, isValid: true } as const]),
      ...(revoked === undefined ? [] : [{ name: "revoked", secret: revoked, isValid: false } as const]),
      ...(expired === undefined ? [] : [{ name: "expired", secret: expired, isValid: false } as const])
    ]
  }
}

/** Runs the checks of a level on a subject, passes each exchange to `see`, and stops once `isEnough` is true. */
const watch = (
  subject: Effect.Effect<Subject, unknown, Scope.Scope>,
  { level, seed }: { readonly seed: number; readonly level: Level },
  see: (exchange: Exchange, setup: Setup) => void,
  isEnough?: () => boolean
): Effect.Effect<Setup, unknown> =>
  SelfTest.withSubject(
    Effect.gen(function* () {
      const opened = yield* subject
      if (!HttpSubject.is(opened)) throw new Error(`${opened.name} is not reached over HTTP`)
      const setup = setupOf(opened.target)
      const transport = tap(opened.target, (exchange) => see(exchange, setup))
      return yield* HttpSubject.make({ ...opened.target, transport })
    }),
    seed,
    (tapped) =>
      Effect.map(
        BriefRun.run(tapped, {
          level,
          seed,
          ...(isEnough === undefined ? {} : { endsAt: isEnough, isAmbientWanted: () => false })
        }),
        () => setupOf((tapped as HttpSubject.HttpSubject).target)
      )
  )

/** Runs the checks of a level on a subject, and returns all exchanges. */
export const of = (
  subject: Effect.Effect<Subject, unknown, Scope.Scope>,
  options: { readonly seed: number; readonly level: Level }
): Effect.Effect<Recording, unknown> => {
  const exchanges: Array<Exchange> = []
  const setup = watch(subject, options, (exchange) => exchanges.push(exchange))
  return Effect.map(setup, (setup) => ({ setup, exchanges }))
}

/** Runs the checks of a level on a subject until the model finds a violation, and returns it. */
export const firstViolation = (
  subject: Effect.Effect<Subject, unknown, Scope.Scope>,
  options: { readonly seed: number; readonly level: Level; readonly judgedAt: Level }
): Effect.Effect<Violation | undefined, unknown> => {
  let known: Judges.Knowledge | undefined
  let found: Violation | undefined
  const see = (exchange: Exchange, setup: Setup): void => {
    if (found !== undefined) return
    const judged = Judges.judge(known ?? Judges.begin(setup, options.judgedAt), exchange)
    known = judged.known
    found = judged.violations.find((violation) => Model.isOfLevel(violation, options.judgedAt))
  }
  return Effect.map(
    watch(subject, options, see, () => found !== undefined),
    () =>
      found ??
      (known &&
        Judges.close(known).violations.find((violation) => Model.isOfLevel(violation, options.judgedAt)))
  )
}

/** Returns the recording with the responses that a server with this transport would have sent. */
export const replay = (
  { exchanges, setup }: Recording,
  spoil: (real: Transport, world: World) => Transport
): Recording => {
  let current: Exchange | undefined
  const real: Transport = () =>
    current?.response === undefined ? Effect.never : Effect.succeed(current.response)
  const secret = (name: string) => setup.keys.find((key) => key.name === name)?.secret ?? ""
  const world: World = {
    now: () => current?.from ?? 0,
    keys: { main: secret("main"), tiny: secret("tiny"), victim: secret("victim"), revoked: secret("revoked") }
  }
  const spoiled = spoil(real, world)
  return {
    setup,
    exchanges: exchanges.map((exchange) => {
      if (exchange.response === undefined) return exchange
      current = exchange
      return { ...exchange, response: Effect.runSync(spoiled(exchange.request)) }
    })
  }
}

/** Returns the violations at a level that the model finds in a recording; stops after `max`. */
export const judge = ({ exchanges, setup }: Recording, level: Level, max = 10) => {
  let known = Judges.begin(setup, level)
  const violations: Array<Violation> = []
  for (const exchange of exchanges) {
    const judged = Judges.judge(known, exchange)
    known = judged.known
    violations.push(...judged.violations.filter((violation) => Model.isOfLevel(violation, level)))
    if (violations.length >= max) return { violations, known }
  }
  violations.push(...Judges.close(known).violations.filter((violation) => Model.isOfLevel(violation, level)))
  return { violations, known }
}
