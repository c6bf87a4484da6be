/** Runs the cases of one port on the stores of a target. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { type ClauseSlug, clauses } from "../clauses/Clauses.ts"
import type { Finding, Findings } from "../evaluation/Finding.ts"
import * as Cases from "./Cases.ts"
import * as CaseText from "./CaseText.ts"
import * as History from "./History.ts"
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

const nothing: Case = { calls: [], clients: [], order: null, isOutage: false }

/** A case, and the verdict on it. */
interface Judged {
  readonly given: Case
  readonly verdict: History.Verdict
}

export const make = <Tag, Service extends object, Session, State>(
  port: Port<Tag, Service, Session, State>
): Suite => {
  const cases = Cases.make(port.kinds)
  const failsTyped = `${port.name}.fails-typed` as const
  const owned = clauses.flatMap(({ slug }) =>
    slug.startsWith(`${port.name}.`) || port.alsoOwns?.includes(slug) === true ? [slug] : []
  )

  /** Makes the verdict on a case; `undefined` if the target has no such store. */
  const judgeOnce = (target: PortTarget.PortTarget, given: Case, reasons: Reasons) =>
    PortTarget.open(given.isOutage ? target.outage : port.storeOf(target), port.tag).pipe(
      Effect.flatMap((service) =>
        service === undefined ? Effect.undefined : History.run(port, service, reasons, given)
      ),
      Effect.scoped,
      Effect.catchTag("Unopened", ({ reason }) => Effect.succeed(History.unopened(failsTyped, reason))),
      Effect.map((verdict) => verdict && { given, verdict })
    )

  /** Runs a case; what also fails without concurrency is not a fault of concurrent calls. */
  const judge = Effect.fnUntraced(function* (
    target: PortTarget.PortTarget,
    given: Case,
    reasons: Reasons
  ): Effect.fn.Return<Judged | undefined> {
    const judged = yield* judgeOnce(target, given, reasons)
    if (judged?.verdict.broken === undefined || given.clients.length === 0) return judged
    const calls = [...given.calls, ...given.clients.flat().map(({ call }) => call)]
    const alone = yield* judgeOnce(target, { ...given, calls, clients: [] }, reasons)
    return alone?.verdict.broken === undefined ? judged : alone
  })

  const findingOf = ({ given, verdict: { broken, steps } }: Judged): Finding | undefined =>
    broken && {
      clause: broken.clause,
      expected: broken.expected,
      actual: broken.actual,
      steps,
      case: CaseText.write({ port: port.name, value: given }),
      shapes: [...new Set(broken.kinds)].map((kind) => `${port.name} ${kind}`)
    }

  /** Returns the smallest case that violates the same clause. */
  const smallest = Effect.fnUntraced(function* (
    target: PortTarget.PortTarget,
    first: Judged,
    reasons: Reasons,
    ms: number
  ): Effect.fn.Return<Judged> {
    let best = first
    const end = (yield* Clock.currentTimeMillis) + ms
    for (let isSmaller = true; isSmaller; ) {
      isSmaller = false
      for (const value of cases.smaller(best.given)) {
        if ((yield* Clock.currentTimeMillis) >= end) break
        const judged = yield* judge(target, value, reasons)
        if (judged?.verdict.broken?.clause !== first.verdict.broken?.clause || judged === undefined) continue
        best = judged
        isSmaller = true
        break
      }
    }
    return best
  })

  /** Looks at the store; returns why some clauses do not apply to it, and why others cannot be decided. */
  const examine = (target: PortTarget.PortTarget) =>
    Effect.gen(function* () {
      const service = yield* PortTarget.open(port.storeOf(target), port.tag)
      const lacking = new Map<ClauseSlug, string>()
      if (service === undefined) return { lacking, undecided: new Map() }
      for (const [method, clause] of Object.entries<ClauseSlug | undefined>(port.optional))
        if (clause !== undefined && Reflect.get(service, method) === undefined)
          lacking.set(clause, `the store has no \`${method}\``)
      return { lacking, undecided: yield* port.examine?.(service) ?? Effect.succeed(new Map()) }
    }).pipe(
      Effect.scoped,
      Effect.catchCause(() => Effect.succeed({ lacking: new Map(), undecided: new Map() }))
    )

  return {
    name: port.name,
    clausesOf: (target) => (port.storeOf(target) === undefined ? [] : owned),
    run: Effect.fnUntraced(function* (
      target,
      { effort = 1, isWanted = () => true, seed, shrinkingMs = 3_000, timeLimitMs = Infinity }
    ) {
      const decided = new Map<ClauseSlug, number>()
      const findings = new Map<ClauseSlug, Finding>()
      const known = yield* examine(target)
      const lacking = new Map<ClauseSlug, string>(known.lacking)
      const undecided = new Map<ClauseSlug, string>(known.undecided)
      const reasons = new Map([...lacking, ...undecided])
      if (target.outage === undefined)
        lacking.set(failsTyped, "no store whose backend does not respond is given (outage)")
      // A call without an end takes a minute, so one is enough.
      let isStuck = !owned.some(isWanted)
      const see = Effect.fnUntraced(function* (part: Partial<Case>) {
        const judged = yield* judge(target, { ...nothing, ...part }, reasons)
        if (judged === undefined) return
        const { broken, ...verdict } = judged.verdict
        for (const [clause, times] of verdict.decided)
          if (!reasons.has(clause)) decided.set(clause, (decided.get(clause) ?? 0) + times)
        for (const [clause, reason] of verdict.undecided) undecided.set(clause, reason)
        if (broken === undefined || !isWanted(broken.clause)) return
        isStuck = broken.actual === History.ENDLESS
        const before = findings.get(broken.clause)
        const found = before ?? findingOf(yield* smallest(target, judged, reasons, isStuck ? 0 : shrinkingMs))
        const shapes = broken.kinds.map((kind) => `${port.name} ${kind}`)
        if (found !== undefined)
          findings.set(broken.clause, {
            ...found,
            times: (before?.times ?? 0) + 1,
            shapes: [...new Set([...(before?.shapes ?? []), ...shapes])]
          })
      })
      for (const part of [...cases.outage(seed), ...(port.scenarios ?? [])]) if (!isStuck) yield* see(part)
      const end = (yield* Clock.currentTimeMillis) + timeLimitMs
      for (const part of cases.random(seed, effort)) {
        if (isStuck || (yield* Clock.currentTimeMillis) > end) break
        yield* see(part)
      }
      return { decided, findings: [...findings.values()], lacking, undecided }
    }),
    replay: Effect.fnUntraced(function* (target, value) {
      if (!cases.is(value)) return yield* new CaseText.NotACase({ reason: `no case of ${port.name}` })
      const { lacking, undecided } = yield* examine(target)
      const judged = yield* judge(target, value, new Map([...lacking, ...undecided]))
      return judged && findingOf(judged)
    })
  }
}
