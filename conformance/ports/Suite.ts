/** Runs the cases of one port on the stores of a target. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { type ClauseSlug, clauses } from "../clauses/Clauses.ts"
import type { Finding, Findings } from "../evaluation/Finding.ts"
import * as Cases from "./Cases.ts"
import * as CaseText from "./CaseText.ts"
import * as History from "./History.ts"
import type { AnyCall, Case, Port, Reasons } from "./Port.ts"
import * as PortTarget from "./PortTarget.ts"

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

/** What a run found out: at most one finding for each clause, and why others are not decided. */
export interface PortResults extends Findings {
  /** Why clauses do not apply, such as a port or a method that the target lacks. */
  readonly lacking: Reasons
  readonly undecided: Reasons
}

/** The cases of one port, whatever its calls are. */
export interface Suite {
  readonly name: string
  /** Returns the clauses that the port of a target promises; none without the port. */
  readonly clausesOf: (target: PortTarget.PortTarget) => ReadonlyArray<ClauseSlug>
  readonly run: (target: PortTarget.PortTarget, options: Options) => Effect.Effect<PortResults>
  /** Runs one case again; returns a finding if it still violates a clause. */
  readonly replay: (
    target: PortTarget.PortTarget,
    value: unknown
  ) => Effect.Effect<Finding | undefined, CaseText.NotACase>
}

export const make = <Tag, Service extends object, State, Call extends AnyCall, Output>(
  port: Port<Tag, Service, State, Call, Output>
): Suite => {
  type OwnCase = Case<Call>
  const cases = Cases.make(port.calls)
  const nothing: OwnCase = { calls: [], clients: [], order: null, later: [], isOutage: false }
  const { failsTyped, interruption } = port.clauses
  const owned = clauses.map(({ slug }) => slug).filter(port.owns)
  const ordinary = owned.filter((slug) => slug !== failsTyped && slug !== interruption)

  const runCase = (target: PortTarget.PortTarget, given: OwnCase, reasons: Reasons) =>
    Effect.scoped(
      Effect.gen(function* () {
        const store = given.isOutage ? target.outage : port.storeOf(target)
        const service = store === undefined ? undefined : yield* PortTarget.open(store, port.tag)
        if (service === undefined) return undefined
        return yield* History.run(port, service, reasons, given)
      })
    ).pipe(Effect.catchTag("Unopened", ({ reason }) => Effect.succeed(History.unopened(failsTyped, reason))))

  /** Runs a case; what also fails without concurrency is not a fault of concurrent calls. */
  const judge = Effect.fnUntraced(function* (
    target: PortTarget.PortTarget,
    given: OwnCase,
    reasons: Reasons
  ) {
    const verdict = yield* runCase(target, given, reasons)
    if (verdict?.broken === undefined || given.clients.length === 0) return { given, verdict }
    const calls = [...given.calls, ...given.clients.flat().map(({ call }) => call)]
    const inSequence = { ...given, calls, clients: [] }
    const alone = yield* runCase(target, inSequence, reasons)
    return alone?.broken === undefined ? { given, verdict } : { given: inSequence, verdict: alone }
  })

  const findingOf = (given: OwnCase, { steps }: History.Verdict, broken: History.Broken): Finding => {
    const { actual, clause, expected } = broken
    return { clause, expected, actual, steps, case: CaseText.write({ port: port.name, value: given }) }
  }

  /** Returns the finding of the smallest case that violates the same clause. */
  const smallest = Effect.fnUntraced(function* (
    target: PortTarget.PortTarget,
    first: { readonly given: OwnCase; readonly verdict: History.Verdict; readonly broken: History.Broken },
    reasons: Reasons,
    ms: number
  ): Effect.fn.Return<Finding> {
    let best = first
    const end = (yield* Clock.currentTimeMillis) + ms
    for (let isSmaller = true; isSmaller; ) {
      isSmaller = false
      for (const value of cases.smaller(best.given)) {
        if ((yield* Clock.currentTimeMillis) >= end) break
        const { given, verdict } = yield* judge(target, value, reasons)
        if (verdict?.broken?.clause !== first.broken.clause) continue
        best = { given, verdict, broken: verdict.broken }
        isSmaller = true
        break
      }
    }
    return findingOf(best.given, best.verdict, best.broken)
  })

  const nothingKnown = { lacking: new Map<ClauseSlug, string>(), undecided: new Map<ClauseSlug, string>() }

  /** Looks at the store; returns why some clauses do not apply to it or cannot be decided. */
  const examine = (target: PortTarget.PortTarget) =>
    Effect.gen(function* () {
      const store = port.storeOf(target)
      const service = store === undefined ? undefined : yield* PortTarget.open(store, port.tag)
      return service === undefined ? nothingKnown : yield* port.examine(service)
    }).pipe(
      Effect.scoped,
      Effect.catchCause(() => Effect.succeed(nothingKnown))
    )

  const isInterruption = ({ clients: all = [] }: Partial<OwnCase>): boolean =>
    all.flat().some(({ turns }) => turns !== null)

  return {
    name: port.name,
    clausesOf: (target) => (port.storeOf(target) === undefined ? [] : owned),
    run: Effect.fnUntraced(function* (
      target,
      { effort = 1, isWanted = () => true, seed, shrinkingMs = 3_000, timeLimitMs = Infinity }
    ) {
      const decided = new Map<ClauseSlug, number>()
      const findings = new Map<ClauseSlug, Finding>()
      const hasStore = port.storeOf(target) !== undefined
      const known = yield* examine(target)
      const lacking = new Map(known.lacking)
      const undecided = new Map(known.undecided)
      const reasons = new Map([...lacking, ...undecided])
      if (target.outage === undefined)
        lacking.set(failsTyped, "no store whose backend does not respond is given (outage)")
      let isStuck = false
      const see = Effect.fnUntraced(function* (part: Partial<OwnCase>) {
        const { given, verdict } = yield* judge(target, { ...nothing, ...part }, reasons)
        if (verdict === undefined) return
        const { broken } = verdict
        for (const [clause, times] of verdict.decided)
          if (!reasons.has(clause)) decided.set(clause, (decided.get(clause) ?? 0) + times)
        for (const [clause, reason] of verdict.undecided) undecided.set(clause, reason)
        if (broken === undefined || !isWanted(broken.clause) || findings.has(broken.clause)) return
        const found = { given, verdict, broken }
        isStuck = broken.actual === History.ENDLESS
        findings.set(broken.clause, yield* smallest(target, found, reasons, isStuck ? 0 : shrinkingMs))
      })
      const isCaseWanted = (part: Partial<OwnCase>): boolean =>
        part.isOutage === true
          ? isWanted(failsTyped)
          : hasStore && (isInterruption(part) ? isWanted(interruption) : ordinary.some(isWanted))
      const outage = port.outage.map((call) => ({ calls: [call], isOutage: true }))
      // A call without an end takes a minute, so one is enough.
      for (const part of [...outage, ...port.boundaries]) if (!isStuck && isCaseWanted(part)) yield* see(part)
      const end = (yield* Clock.currentTimeMillis) + timeLimitMs
      for (const part of cases.random(seed, effort)) {
        if (isStuck || (yield* Clock.currentTimeMillis) > end) break
        if (isCaseWanted(part)) yield* see(part)
      }
      return { decided, findings: [...findings.values()], lacking, undecided }
    }),
    replay: Effect.fnUntraced(function* (target, value) {
      if (!cases.is(value)) return yield* new CaseText.NotACase({ reason: `no case of ${port.name}` })
      const { lacking, undecided } = yield* examine(target)
      const { given, verdict } = yield* judge(target, value, new Map([...lacking, ...undecided]))
      return verdict?.broken === undefined ? undefined : findingOf(given, verdict, verdict.broken)
    })
  }
}
