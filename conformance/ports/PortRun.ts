/** Judges the storage ports of a target by cases, which are drawn and made smaller. */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as fc from "fast-check"
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

/** Prepares to judge stores by the cases of a port. */
const suiteOf = <Tag, Service extends object, Session, State>(port: Port<Tag, Service, Session, State>) => {
  const { examine = () => Effect.succeed(new Map()), kinds, name, storeOf, tag } = port
  const groups = Cases.groups(port)
  const [failsTyped, interruption] = [`${name}.fails-typed`, `${name}.interruption`] as const
  // Those of the family `limits` are about clocks.
  const [family = name] = name.split("-")
  const owned = clauses.flatMap(({ observable, slug }) =>
    observable === "port" && slug.startsWith(family) ? [slug] : []
  )
  const ordinary = owned.filter((slug) => slug !== failsTyped && slug !== interruption)

  /** The clauses that a case can decide; one that interrupts calls may disturb the next case on the same backend. */
  const decidable = ({ clients, isOutage }: Case<Session, State>): ReadonlyArray<ClauseSlug> => {
    if (isOutage) return [failsTyped]
    return clients.flat().some(({ turns }) => turns !== null) ? [interruption] : ordinary
  }

  /** Returns why some clauses do not apply to the store of a target, and why others cannot be decided. */
  const look = Effect.fnUntraced(
    function* (target: PortTarget.PortTarget) {
      const service = yield* PortTarget.open(storeOf(target), tag)
      const lacking = new Map<ClauseSlug, string>()
      for (const { clause, method } of Object.values(kinds))
        if (service !== undefined && History.isLacking({ method }, service))
          lacking.set(clause, `the store has no \`${method}\``)
      return { lacking, reasons: service === undefined ? new Map() : yield* examine(service) }
    },
    Effect.scoped,
    Effect.catchCause(() => Effect.succeed({ lacking: new Map(), reasons: new Map() }))
  )

  /** Runs the cases of the port on the stores of a target. */
  const run = Effect.fnUntraced(function* (
    target: PortTarget.PortTarget,
    { effort = 1, isWanted = () => true, seed, shrinkingMs = 3_000, timeLimitMs = Infinity }: Options
  ): Effect.fn.Return<PortResults> {
    const { lacking, reasons } = yield* look(target)

    /** Opens a store, and judges a case; `undefined` if the target has no such store. */
    const judgeOnce = Effect.fnUntraced(function* (given: Case<Session, State>) {
      const opened = yield* Effect.exit(
        PortTarget.open(given.isOutage ? target.outage : storeOf(target), tag)
      )
      if (Exit.isFailure(opened)) {
        const [reason = ""] = String(Cause.squash(opened.cause)).split("\n")
        return History.verdictOn(failsTyped, "the layer to open an empty store", reason)
      }
      if (opened.value === undefined) return undefined
      return given.isOutage
        ? yield* History.duringOutage(port, opened.value, given.calls)
        : yield* History.run(port, opened.value, reasons, given)
    }, Effect.scoped)

    /** Judges a case; what also fails without concurrency is not a fault of concurrent calls. */
    const judge = Effect.fnUntraced(function* (
      given: Case<Session, State>
    ): Effect.fn.Return<History.Verdict | undefined> {
      const verdict = yield* judgeOnce(given)
      if (verdict?.finding === undefined || given.clients.length === 0) return verdict
      const calls = [...given.calls, ...given.clients.flat().map(({ call }) => call)]
      const alone = yield* judgeOnce({ ...given, calls, clients: [] })
      return alone?.finding === undefined ? verdict : alone
    })

    /**
     * Returns the finding of the smallest case that violates the same clause and is found in time; the first case was
     * drawn at this index.
     */
    const smallest = Effect.fnUntraced(function* (
      first: Finding,
      cases: fc.Arbitrary<Case<Session, State>>,
      index: number,
      interruptAfterTimeLimit: number
    ): Effect.fn.Return<Finding> {
      const runPromise = Effect.runPromiseWith(yield* Effect.context<never>())
      let smallest = first
      let isEnded = false
      const isOther = Effect.fnUntraced(function* (given: Case<Session, State>) {
        const finding = (yield* judge(given))?.finding
        if (isEnded || finding?.clause !== first.clause) return true
        smallest = finding
        return false
      })
      let latest: Promise<boolean> | undefined
      const property = fc.asyncProperty(cases, (given) => (latest = runPromise(isOther(given))))
      const parameters = { seed, path: String(index), numRuns: 1, interruptAfterTimeLimit }
      yield* Effect.promise(() => fc.check(property, parameters))
      isEnded = true
      // The time limit does not wait for the latest case, which uses the backend.
      yield* Effect.promise(async () => latest)
      return smallest
    })

    const decided = new Map<ClauseSlug, number>()
    const findings = new Map<ClauseSlug, Finding>()
    const undecided = new Map<ClauseSlug, string>(reasons)
    if (target.outage === undefined)
      lacking.set(failsTyped, "no store whose backend does not respond is given (outage)")
    // A call without an end takes a minute, so one is enough.
    let isStuck = false
    let end: number | undefined
    for (const { cases, count, isRandom } of groups) {
      if (isRandom) end ??= (yield* Clock.currentTimeMillis) + timeLimitMs
      const drawn = fc.sample(cases, { seed, numRuns: isRandom ? Math.ceil(count * effort) : 1 })
      for (const [index, given] of drawn.entries()) {
        const now = yield* Clock.currentTimeMillis
        if (isStuck || now > (end ?? now) || !decidable(given).some(isWanted)) continue
        const verdict = yield* judge(given)
        for (const clause of verdict?.decided ?? []) decided.set(clause, (decided.get(clause) ?? 0) + 1)
        for (const [clause, reason] of verdict?.undecided ?? []) undecided.set(clause, reason)
        const finding = verdict?.finding
        if (finding === undefined || !isWanted(finding.clause)) continue
        isStuck = finding.actual === History.ENDLESS
        const known =
          findings.get(finding.clause) ?? (yield* smallest(finding, cases, index, isStuck ? 0 : shrinkingMs))
        findings.set(finding.clause, {
          ...known,
          times: (known.times ?? 0) + 1,
          shapes: [...new Set([...(known.shapes ?? []), ...(finding.shapes ?? [])])]
        })
      }
    }
    return { decided, findings: [...findings.values()], lacking, undecided }
  })

  return {
    run,
    /** Returns the clauses that the port of a target promises; none without the port. */
    clausesOf: (target: PortTarget.PortTarget) => (storeOf(target) === undefined ? [] : owned)
  }
}

const suites = [suiteOf(pets), suiteOf(limits), suiteOf(keys)]

/** Runs the cases of every port of the target. */
export const run = Effect.fnUntraced(function* (target: PortTarget.PortTarget, options: Options) {
  const all: Array<PortResults> = []
  for (const suite of suites) all.push(yield* suite.run(target, options))
  return {
    decided: new Map(all.flatMap(({ decided }) => [...decided])),
    findings: all.flatMap(({ findings }) => findings).toSorted((a, b) => a.steps.length - b.steps.length),
    lacking: new Map(all.flatMap(({ lacking }) => [...lacking])),
    undecided: new Map(all.flatMap(({ undecided }) => [...undecided]))
  }
})

/** Returns the clauses that the ports of a target promise. */
export const clausesOf = (target: PortTarget.PortTarget): ReadonlySet<string> =>
  new Set(suites.flatMap((suite) => suite.clausesOf(target)))
