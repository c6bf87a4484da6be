/** Judges the storage ports of a target by cases, which are drawn and made smaller. */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as fc from "fast-check"
import { type ClauseSlug, clauses } from "../clauses/Clauses.ts"
import type { Finding } from "../clauses/Finding.ts"
import * as Cases from "./Cases.ts"
import * as History from "./History.ts"
import { keys } from "./Keys.ts"
import { limits } from "./Limits.ts"
import { pets } from "./Pets.ts"
import type { Case, Drawn, Port } from "./Port.ts"
import type { PortTarget, Store } from "./PortTarget.ts"

export interface Options {
  readonly seed: number
  /** Factor of the number of random cases; 1 by default. */
  readonly effort?: number | undefined
  /** Time for the random cases of each port, in milliseconds. */
  readonly timeLimitMs?: number | undefined
  /** Time for making one history smaller, in milliseconds. */
  readonly shrinkingMs?: number | undefined
  /** Whether a clause is selected; all are by default. */
  readonly isWanted?: ((clause: ClauseSlug) => boolean) | undefined
}

/** What a run found out. */
interface Results extends History.Tally {
  /** A violation of each violated clause, with the smallest known history that shows it. */
  readonly findings: Map<ClauseSlug, Finding>
  /** Why clauses do not apply, such as a port or a method that the target lacks. */
  readonly lacking: Map<ClauseSlug, string>
}

/** Number of draws for an outage, of which one is used, because a call without arguments may need no backend. */
const OUTAGE_DRAWS = 10

/** Returns the clauses about a port. */
const clausesOfPort = (name: string): ReadonlyArray<ClauseSlug> =>
  clauses.flatMap(({ slug }) => (slug.startsWith(`${name}.`) ? [slug] : []))

/** Runs the cases of a port on the stores of a target. */
const runPort = Effect.fnUntraced(function* <Tag, Service extends object, Session, State>(
  port: Port<Tag, Service, Session, State>,
  target: PortTarget,
  { effort = 1, isWanted = () => true, seed, shrinkingMs = 3_000, timeLimitMs = Infinity }: Options,
  results: Results
): Effect.fn.Return<void> {
  const { kinds, name, storeOf, tag } = port
  const { findings, lacking, undecided } = results
  const [failsTyped, interruption] = [`${name}.fails-typed`, `${name}.interruption`] as const

  /** Opens a store, and uses it if the layer provides it; returns a violation, if any. */
  const withStore = Effect.fnUntraced(function* (
    layer: Store<Tag> | Store<never> = Layer.empty,
    use: (service: Service) => Effect.Effect<Finding | undefined>
  ) {
    const opened = yield* Effect.exit(Layer.build(Layer.fresh(layer)))
    if (Exit.isSuccess(opened)) {
      const service = Context.getOption(opened.value, tag)
      return Option.isSome(service) ? yield* use(service.value) : undefined
    }
    History.count(results, failsTyped)
    const [actual = ""] = String(Cause.squash(opened.cause)).split("\n")
    const expected = "the layer to open an empty store"
    return { clause: failsTyped, expected, actual, shapes: [], steps: [] }
  }, Effect.scoped)

  const isLacking = (service: Service, method: string | undefined): boolean =>
    method !== undefined && Reflect.get(service, method) === undefined

  /** Finds out which clauses do not apply or cannot be decided. */
  const look = Effect.fnUntraced(
    function* (service: Service) {
      for (const { clause, method } of Object.values(kinds))
        if (isLacking(service, method)) lacking.set(clause, `the store has no \`${method}\``)
      for (const [clause, reason] of port.examine === undefined ? [] : yield* port.examine(service))
        undecided.set(clause, reason)
      return undefined
    },
    Effect.catchCause(() => Effect.undefined)
  )
  yield* withStore(storeOf(target), look)
  const undecidable = new Set(undecided.keys())

  const judgeOnce = (given: Case<Session, State>) =>
    withStore(storeOf(target), (service) => {
      const isOffered = (call: Drawn<Session, State>): boolean => {
        const kind = kinds[call.kind]
        return kind !== undefined && !undecidable.has(kind.clause) && !isLacking(service, kind.method)
      }
      return History.run(port, service, isOffered, results, given)
    })

  /** Judges a case; what also fails without concurrency is not a fault of concurrent calls. */
  const judge = Effect.fnUntraced(function* (given: Case<Session, State>) {
    const finding = yield* judgeOnce(given)
    if (finding === undefined || given.clients.length === 0) return finding
    const calls = [...given.calls, ...given.clients.flat()]
    return (yield* judgeOnce({ ...given, calls, clients: [] })) ?? finding
  })

  if (target.outage === undefined)
    lacking.set(failsTyped, "no store whose backend does not respond is given (outage)")
  for (const [kind, { draw, method }] of Object.entries(kinds)) {
    if (!isWanted(failsTyped)) break
    const finding = yield* withStore(target.outage, (service) => {
      const session = port.open(service)
      const drawn = fc.sample(draw, { seed, numRuns: OUTAGE_DRAWS }).map((begin) => begin(session, false))
      const [longest] = drawn.toSorted((a, b) => b.did.length - a.did.length)
      if (longest === undefined || isLacking(service, method)) return Effect.undefined
      History.count(results, failsTyped)
      return History.duringOutage(longest, { clause: failsTyped, shapes: [`${name} ${kind}`] })
    })
    if (finding !== undefined) findings.set(failsTyped, finding)
  }

  const ordinary = clausesOfPort(name).filter((slug) => slug !== failsTyped && slug !== interruption)
  const runPromise = Effect.runPromiseWith(yield* Effect.context<never>())
  let end: number | undefined
  for (const { cases, count, interrupts = false } of Cases.groups(port)) {
    if (!(interrupts ? [interruption] : ordinary).some(isWanted)) continue
    if (count !== undefined) end ??= (yield* Clock.currentTimeMillis) + timeLimitMs
    const numRuns = count === undefined ? 1 : Math.ceil(count * effort)
    // Each check ends with a violation of another clause, made as small as the time allows.
    for (let next = 0; next < numRuns; ) {
      let found: ClauseSlug | undefined
      let deadline = end ?? Infinity
      const isWithout = Effect.fnUntraced(function* (given: Case<Session, State>) {
        if (found === undefined) next++
        const now = yield* Clock.currentTimeMillis
        // When the time is over, other cases are skipped, and any smaller case will do.
        if (now >= deadline) return found === undefined
        const finding = yield* judge(given)
        if (finding === undefined || !isWanted(finding.clause)) return true
        if (found === undefined ? findings.has(finding.clause) : found !== finding.clause) return true
        if (found === undefined) deadline = now + shrinkingMs
        found = finding.clause
        findings.set(found, finding)
        // A call without an end takes a minute, so one is enough.
        if (finding.actual === History.ENDLESS) end = deadline = -Infinity
        return false
      })
      const check = { seed, path: String(next), numRuns: numRuns - next }
      const { errorInstance, failed } = yield* Effect.promise((signal) =>
        fc.check(
          fc.asyncProperty(cases, (given) => runPromise(isWithout(given), { signal })),
          check
        )
      )
      if (failed && found === undefined) return yield* Effect.die(errorInstance)
    }
  }
})

/** Runs the cases of every port of the target. */
export const run = Effect.fnUntraced(function* (target: PortTarget, options: Options) {
  const results: Results = {
    decided: new Map(),
    findings: new Map(),
    lacking: new Map(),
    undecided: new Map()
  }
  yield* runPort(pets, target, options, results)
  yield* runPort(limits, target, options, results)
  yield* runPort(keys, target, options, results)
  const findings = [...results.findings.values()].toSorted((a, b) => a.steps.length - b.steps.length)
  return { ...results, findings }
})

/** Returns the clauses that the ports of a target promise. */
export const clausesOf = (target: PortTarget): ReadonlySet<string> =>
  new Set(
    [pets, limits, keys].flatMap(({ name, storeOf }) =>
      storeOf(target) === undefined ? [] : clausesOfPort(name)
    )
  )
