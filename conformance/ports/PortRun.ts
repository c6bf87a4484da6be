/** Judges the storage ports of a target by cases, which are drawn and made smaller. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type ClauseSlug, clauses } from "../clauses/Clauses.ts"
import type { Finding, Findings } from "../clauses/Finding.ts"
import * as Cases from "./Cases.ts"
import * as History from "./History.ts"
import { keys } from "./Keys.ts"
import { limits } from "./Limits.ts"
import { pets } from "./Pets.ts"
import type { Case, Port, Reasons } from "./Port.ts"
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

const nothing: Case = { calls: [], clients: [], order: null, isOutage: false }

/** A case, the verdict on it, and what it violates. */
interface Judged extends History.Verdict {
  readonly given: Case
  readonly finding: Finding | undefined
}

const suiteOf = <Tag, Service extends object, Session, State>(port: Port<Tag, Service, Session, State>) => {
  const {
    examine = () => Effect.succeed(new Map()),
    kinds,
    name,
    optional,
    scenarios = [],
    storeOf,
    tag
  } = port
  const cases = Cases.make(kinds)
  const [failsTyped, interruption] = [`${name}.fails-typed`, `${name}.interruption`] as const
  const owned = clauses.flatMap(({ slug }) =>
    slug.startsWith(`${name}.`) || port.alsoOwns?.includes(slug) === true ? [slug] : []
  )
  const ordinary = owned.filter((slug) => slug !== failsTyped && slug !== interruption)

  /** The clauses that a case can decide; one that interrupts calls may disturb the next case on the same backend. */
  const decidable = ({ clients, isOutage }: Case): ReadonlyArray<ClauseSlug> => {
    if (isOutage) return [failsTyped]
    return clients.flat().some(({ turns }) => turns !== null) ? [interruption] : ordinary
  }

  /** Looks at the store; returns why some clauses do not apply to it, and why others cannot be decided. */
  const look = Effect.fnUntraced(function* (
    target: PortTarget.PortTarget
  ): Effect.fn.Return<readonly [lacking: Reasons, undecided: Reasons], unknown, Scope.Scope> {
    const service = yield* PortTarget.open(storeOf(target), tag)
    if (service === undefined) return [new Map(), new Map()]
    const lacking = Object.entries(optional).flatMap(([method, clause]) =>
      Reflect.get(service, method) === undefined ? [[clause, `the store has no \`${method}\``] as const] : []
    )
    return [new Map(lacking), yield* examine(service)]
  })

  /** Prepares to judge cases on the stores of a target. */
  const judging = Effect.fnUntraced(function* (target: PortTarget.PortTarget) {
    const [lacking, undecided] = yield* look(target).pipe(
      Effect.scoped,
      Effect.catchCause(() => Effect.succeed([new Map(), new Map()] as const))
    )
    const reasons: Reasons = new Map([...lacking, ...undecided])

    /** Makes the verdict on a case; `undefined` if the target has no such store. */
    const judgeOnce = Effect.fnUntraced(
      function* (given: Case) {
        const service = yield* PortTarget.open(given.isOutage ? target.outage : storeOf(target), tag)
        const [call] = given.calls
        if (service === undefined) return undefined
        if (!given.isOutage) return yield* History.run(port, service, reasons, given)
        return call && (yield* History.duringOutage(port, service, call))
      },
      Effect.scoped,
      Effect.catchTag("Unopened", ({ reason }) =>
        Effect.succeed(History.verdictOn(failsTyped, "the layer to open an empty store", reason))
      )
    )

    /** Runs a case; what also fails without concurrency is not a fault of concurrent calls. */
    const judge = Effect.fnUntraced(function* (given: Case): Effect.fn.Return<Judged | undefined> {
      const verdict = yield* judgeOnce(given)
      if (verdict?.broken !== undefined && given.clients.length > 0) {
        const calls = [...given.calls, ...given.clients.flat().map(({ call }) => call)]
        const alone = yield* judge({ ...given, calls, clients: [] })
        if (alone?.finding !== undefined) return alone
      }
      const finding = verdict?.broken && {
        clause: verdict.broken.clause,
        expected: verdict.broken.expected,
        actual: verdict.broken.actual,
        steps: verdict.steps,
        shapes: verdict.broken.kinds.map((kind) => `${name} ${kind}`)
      }
      return verdict && { ...verdict, given, finding }
    })

    /** Returns the smallest case that violates the same clause and is found in time. */
    const smallest = Effect.fnUntraced(function* (first: Judged, end: number): Effect.fn.Return<Judged> {
      for (const value of cases.smaller(first.given)) {
        if ((yield* Clock.currentTimeMillis) >= end) break
        const judged = yield* judge(value)
        if (judged !== undefined && judged.finding?.clause === first.finding?.clause)
          return yield* smallest(judged, end)
      }
      return first
    })
    return { lacking, undecided, reasons, judge, smallest }
  })

  return {
    name,
    /** Returns the clauses that the port of a target promises; none without the port. */
    clausesOf: (target: PortTarget.PortTarget) => (storeOf(target) === undefined ? [] : owned),
    run: Effect.fnUntraced(function* (
      target: PortTarget.PortTarget,
      { effort = 1, isWanted = () => true, seed, shrinkingMs = 3_000, timeLimitMs = Infinity }: Options
    ): Effect.fn.Return<PortResults> {
      const { judge, reasons, smallest, ...known } = yield* judging(target)
      const decided = new Map<ClauseSlug, number>()
      const findings = new Map<ClauseSlug, Finding>()
      const lacking = new Map(known.lacking)
      const undecided = new Map(known.undecided)
      if (target.outage === undefined)
        lacking.set(failsTyped, "no store whose backend does not respond is given (outage)")
      // A call without an end takes a minute, so one is enough.
      let isStuck = false
      const see = Effect.fnUntraced(function* (part: Partial<Case>) {
        const given = { ...nothing, ...part }
        const judged = isStuck || !decidable(given).some(isWanted) ? undefined : yield* judge(given)
        if (judged === undefined) return
        const { finding } = judged
        for (const clause of judged.decided)
          if (!reasons.has(clause)) decided.set(clause, (decided.get(clause) ?? 0) + 1)
        for (const [clause, reason] of judged.undecided) undecided.set(clause, reason)
        if (finding === undefined || !isWanted(finding.clause)) return
        isStuck = finding.actual === History.ENDLESS
        const end = (yield* Clock.currentTimeMillis) + (isStuck ? 0 : shrinkingMs)
        const known = findings.get(finding.clause) ?? (yield* smallest(judged, end)).finding
        const shapes = new Set([...(known?.shapes ?? []), ...(finding.shapes ?? [])])
        const times = (known?.times ?? 0) + 1
        findings.set(finding.clause, { ...finding, ...known, times, shapes: [...shapes] })
      })
      for (const part of [...cases.outage(seed), ...scenarios]) yield* see(part)
      const end = (yield* Clock.currentTimeMillis) + timeLimitMs
      for (const part of cases.random(seed, effort)) {
        if ((yield* Clock.currentTimeMillis) > end) break
        yield* see(part)
      }
      return { decided, findings: [...findings.values()], lacking, undecided }
    })
  }
}

const suites = [suiteOf(pets), suiteOf(limits), suiteOf(keys)]

/** Runs the cases of every port of the target. */
export const run = (target: PortTarget.PortTarget, options: Options): Effect.Effect<PortResults> =>
  Effect.map(
    Effect.forEach(suites, (suite) => suite.run(target, options)),
    (all) => ({
      decided: new Map(all.flatMap(({ decided }) => [...decided])),
      findings: all.flatMap(({ findings }) => findings).toSorted((a, b) => a.steps.length - b.steps.length),
      lacking: new Map(all.flatMap(({ lacking }) => [...lacking])),
      undecided: new Map(all.flatMap(({ undecided }) => [...undecided]))
    })
  )

/** Returns the clauses that the ports of a target promise. */
export const clausesOf = (target: PortTarget.PortTarget): ReadonlySet<string> =>
  new Set(suites.flatMap((suite) => suite.clausesOf(target)))
