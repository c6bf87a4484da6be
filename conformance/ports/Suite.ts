/** Runs the cases of one port on the stores of a target. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { type ClauseSlug, clauses } from "../clauses/Clauses.ts"
import type { Finding, Findings } from "../clauses/Finding.ts"
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

const nothing: Case = { calls: [], clients: [], order: null, isOutage: false }

const nothingKnown = { lacking: new Map<ClauseSlug, string>(), undecided: new Map<ClauseSlug, string>() }

/** A case, and the verdict on it. */
interface Judged {
  readonly given: Case
  readonly verdict: History.Verdict
}

export const make = <Tag, Service extends object, Session, State>(
  port: Port<Tag, Service, Session, State>
) => {
  const cases = Cases.make(port.kinds)
  const [failsTyped, interruption] = [`${port.name}.fails-typed`, `${port.name}.interruption`] as const
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

  const findingOf = (
    first: History.Broken,
    { given, verdict: { broken = first, steps } }: Judged
  ): Finding => ({
    clause: broken.clause,
    expected: broken.expected,
    actual: broken.actual,
    steps,
    case: CaseText.write({ port: port.name, value: given }),
    shapes: [...new Set(broken.kinds)].map((kind) => `${port.name} ${kind}`)
  })

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
      if (service === undefined) return nothingKnown
      const lacking = new Map(
        Object.entries(port.optional)
          .filter(([method]) => Reflect.get(service, method) === undefined)
          .map(([method, clause]) => [clause, `the store has no \`${method}\``])
      )
      const undecided = yield* port.examine?.(service) ?? Effect.succeed(nothingKnown.undecided)
      return { lacking, undecided }
    }).pipe(
      Effect.scoped,
      Effect.catchCause(() => Effect.succeed(nothingKnown))
    )

  return {
    name: port.name,
    /** Returns the clauses that the port of a target promises; none without the port. */
    clausesOf: (target: PortTarget.PortTarget) => (port.storeOf(target) === undefined ? [] : owned),
    run: Effect.fnUntraced(function* (
      target: PortTarget.PortTarget,
      { effort = 1, isWanted = () => true, seed, shrinkingMs = 3_000, timeLimitMs = Infinity }: Options
    ): Effect.fn.Return<PortResults> {
      const decided = new Map<ClauseSlug, number>()
      const findings = new Map<ClauseSlug, Finding>()
      const known = yield* examine(target)
      const lacking = new Map<ClauseSlug, string>(known.lacking)
      const undecided = new Map<ClauseSlug, string>(known.undecided)
      const reasons = new Map([...lacking, ...undecided])
      if (target.outage === undefined)
        lacking.set(failsTyped, "no store whose backend does not respond is given (outage)")
      const isOrdinaryWanted = owned.some(
        (slug) => slug !== failsTyped && slug !== interruption && isWanted(slug)
      )
      /** Whether a case decides a selected clause; one that interrupts may disturb the next on the same backend. */
      const isCaseWanted = ({ clients = [], isOutage = false }: Partial<Case>): boolean => {
        if (isOutage) return isWanted(failsTyped)
        return clients.flat().some(({ turns }) => turns !== null) ? isWanted(interruption) : isOrdinaryWanted
      }
      // A call without an end takes a minute, so one is enough.
      let isStuck = false
      const see = Effect.fnUntraced(function* (part: Partial<Case>) {
        const judged =
          isStuck || !isCaseWanted(part) ? undefined : yield* judge(target, { ...nothing, ...part }, reasons)
        if (judged === undefined) return
        const { broken, ...verdict } = judged.verdict
        for (const [clause, times] of verdict.decided)
          if (!reasons.has(clause)) decided.set(clause, (decided.get(clause) ?? 0) + times)
        for (const [clause, reason] of verdict.undecided) undecided.set(clause, reason)
        if (broken === undefined || !isWanted(broken.clause)) return
        isStuck = broken.actual === History.ENDLESS
        const before = findings.get(broken.clause)
        const { times = 0, ...found } =
          before ?? findingOf(broken, yield* smallest(target, judged, reasons, isStuck ? 0 : shrinkingMs))
        const shapes = new Set([
          ...(found.shapes ?? []),
          ...broken.kinds.map((kind) => `${port.name} ${kind}`)
        ])
        findings.set(broken.clause, { ...found, times: times + 1, shapes: [...shapes] })
      })
      for (const part of [...cases.outage(seed), ...(port.scenarios ?? [])]) yield* see(part)
      const end = (yield* Clock.currentTimeMillis) + timeLimitMs
      for (const part of cases.random(seed, effort)) {
        if ((yield* Clock.currentTimeMillis) > end) break
        yield* see(part)
      }
      return { decided, findings: [...findings.values()], lacking, undecided }
    }),
    /** Runs one case again; returns a finding if it still violates a clause. */
    replay: Effect.fnUntraced(function* (
      target: PortTarget.PortTarget,
      value: unknown
    ): Effect.fn.Return<Finding | undefined, CaseText.NotACase> {
      if (!cases.is(value)) return yield* new CaseText.NotACase({ reason: `no case of ${port.name}` })
      const { lacking, undecided } = yield* examine(target)
      const judged = yield* judge(target, value, new Map([...lacking, ...undecided]))
      return judged?.verdict.broken && findingOf(judged.verdict.broken, judged)
    })
  }
}
