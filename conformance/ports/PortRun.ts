/** Runs cases on the storage ports of a target, and returns a smallest history for each clause that they violate. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { type ClauseSlug, clauses } from "../clauses/Clauses.ts"
import * as CaseText from "./CaseText.ts"
import * as History from "./History.ts"
import { keys } from "./KeyPort.ts"
import { limits } from "./LimitPort.ts"
import { pets } from "./PetPort.ts"
import type { Case, Port, Undecided } from "./Port.ts"
import * as PortTarget from "./PortTarget.ts"

/** A violated clause, and the smallest history that shows it. */
export interface Finding {
  readonly clause: ClauseSlug
  readonly expected: string
  readonly actual: string
  readonly steps: ReadonlyArray<History.Step>
  /** The history as text, for `replay`. */
  readonly case: string
}

export interface Options {
  readonly seed: number
  /** Factor of the number of random cases; 1 by default. */
  readonly effort?: number | undefined
  /** Time for the random cases of each port, in milliseconds. */
  readonly timeLimitMs?: number | undefined
  /** Whether a clause is selected; all are by default. */
  readonly isWanted?: ((clause: ClauseSlug) => boolean) | undefined
}

export interface PortResults {
  /** How often each clause was decided. */
  readonly decided: ReadonlyMap<ClauseSlug, number>
  /** At most one finding for each clause. */
  readonly findings: ReadonlyArray<Finding>
  /** Why a clause was not decided. */
  readonly undecided: Undecided
}

/** Number of random cases of each kind at effort 1. */
const RUNS = { sequences: 60, clients: 20, interleaved: 10, interruptions: 8 } as const

/** Time for making one history smaller, in milliseconds. */
const SHRINKING_MS = 3_000

/** Runs all ports of the target. */
export const run = (target: PortTarget.PortTarget, options: Options): Effect.Effect<PortResults> =>
  Effect.map(
    Effect.forEach(suites, (suite) => suite.run(target, options)),
    (all) => ({
      decided: new Map(all.flatMap(({ decided }) => [...decided])),
      findings: all.flatMap(({ findings }) => findings),
      undecided: new Map(all.flatMap(({ undecided }) => [...undecided]))
    })
  )

/** Returns the clauses that the ports of a target promise. */
export const clausesOf = (target: PortTarget.PortTarget): ReadonlySet<string> =>
  new Set(suites.flatMap((suite) => suite.clausesOf(target)))

/** Runs the case of a finding again; returns the finding if it is still there. */
export const replay = (
  target: PortTarget.PortTarget,
  text: string
): Effect.Effect<Finding | undefined, CaseText.NotACase> =>
  Effect.flatMap(Effect.fromResult(CaseText.parse(text)), ({ port, value }) => {
    const suite = suites.find(({ name }) => name === port)
    return suite === undefined
      ? Effect.fail(new CaseText.NotACase({ reason: `there is no port ${port}` }))
      : suite.replay(target, value)
  })

/** The cases of one port, whatever its calls are. */
interface Suite {
  readonly name: string
  readonly clausesOf: (target: PortTarget.PortTarget) => ReadonlyArray<ClauseSlug>
  readonly run: (target: PortTarget.PortTarget, options: Options) => Effect.Effect<PortResults>
  readonly replay: (
    target: PortTarget.PortTarget,
    value: unknown
  ) => Effect.Effect<Finding | undefined, CaseText.NotACase>
}

/** Generates the lists without one part: first without a half, at last without one element. */
function* without<A>(all: ReadonlyArray<A>): Generator<ReadonlyArray<A>> {
  for (let size = Math.ceil(all.length / 2); size > 0; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < all.length; from += size) yield all.toSpliced(from, size)
  }
}

const suiteOf = <Tag, Service extends object, State, Call, Input, Output>(
  port: Port<Tag, Service, State, Call, Input, Output>
): Suite => {
  type OwnCase = Case<Call>
  const nothing: OwnCase = { calls: [], clients: [], order: null, later: [], isOutage: false }
  const seed = fc.noShrink(fc.integer())
  const clients = (turns: fc.Arbitrary<number | null>, call: fc.Arbitrary<Call>, max: number) =>
    fc.array(
      fc.array(fc.record({ call, turns }, { noNullPrototype: true }), { minLength: 1, maxLength: max }),
      { maxLength: 100, size: "-2" }
    )
  const turns = fc.oneof(fc.nat(8), fc.nat(40))
  const sequence = fc.array(port.call, { maxLength: 500, size: "medium" })

  /** Any case, which shrinks; only its parts are generated. */
  const anyCase: fc.Arbitrary<OwnCase> = fc.record(
    {
      calls: sequence,
      clients: clients(fc.option(turns), fc.oneof(port.clientCall, port.interruptible, port.call), 40),
      order: fc.option(seed),
      later: fc.array(port.call, { maxLength: 100 }),
      isOutage: fc.boolean()
    },
    { noNullPrototype: true }
  )
  const isCase = (value: unknown): value is OwnCase => anyCase.canShrinkWithoutContext(value as OwnCase)

  const few = fc.array(
    fc.array(fc.record({ call: port.clientCall, turns: fc.constant(null) }), { minLength: 1, maxLength: 4 }),
    { minLength: 2, maxLength: 4 }
  )
  const begun = fc.array(port.call, { maxLength: 3 })
  const generated: { readonly [kind in keyof typeof RUNS]: fc.Arbitrary<Partial<OwnCase>> } = {
    sequences: sequence.map((calls) => ({ calls })),
    clients: fc.record({ calls: begun, clients: few }),
    interleaved: fc.record({ calls: begun, clients: few, order: seed }),
    interruptions: fc.record({ clients: clients(turns, port.interruptible, 4), order: seed })
  }

  const runCase = (target: PortTarget.PortTarget, given: OwnCase, lacking: Undecided) =>
    Effect.scoped(
      Effect.gen(function* () {
        const store = given.isOutage ? target.outage : port.storeOf(target)
        const service = store === undefined ? undefined : yield* PortTarget.open(store, port.tag)
        if (service === undefined) return undefined
        return yield* History.run(port, service, lacking, given)
      })
    ).pipe(
      Effect.catchTag("Unopened", ({ reason }) => {
        const expected = "the layer to open an empty store"
        const broken = new History.Broken({ clause: port.clauses.failsTyped, expected, actual: reason })
        return Effect.succeed<History.Verdict>({
          broken,
          steps: [],
          decided: new Map(),
          undecided: new Map()
        })
      })
    )

  /** Runs a case; what also fails without concurrency is not a fault of concurrent calls. */
  const judge = Effect.fnUntraced(function* (
    target: PortTarget.PortTarget,
    given: OwnCase,
    lacking: Undecided
  ) {
    const verdict = yield* runCase(target, given, lacking)
    if (verdict?.broken === undefined || given.clients.length === 0) return { given, verdict }
    const calls = [...given.calls, ...given.clients.flat().map(({ call }) => call)]
    const inSequence = { ...given, calls, clients: [] }
    const alone = yield* runCase(target, inSequence, lacking)
    return alone?.broken === undefined ? { given, verdict } : { given: inSequence, verdict: alone }
  })

  const findingOf = (
    given: OwnCase,
    { clause, actual, expected }: History.Broken,
    verdict: History.Verdict
  ) => ({
    clause,
    expected,
    actual,
    steps: verdict.steps,
    case: CaseText.write({ port: port.name, value: given })
  })

  /** Generates smaller cases: first without some of the calls, then with simpler ones. */
  function* smaller(given: OwnCase): Generator<OwnCase> {
    for (const calls of without(given.calls)) yield { ...given, calls }
    for (const later of without(given.later)) yield { ...given, later }
    for (const clients of without(given.clients)) yield { ...given, clients }
    for (const [index, client] of given.clients.entries())
      for (const fewer of without(client)) yield { ...given, clients: given.clients.with(index, fewer) }
    for (const { value } of anyCase.shrink(given, undefined)) yield value
  }

  /** Returns the finding of the smallest case that violates the same clause. */
  const smallest = Effect.fnUntraced(function* (
    target: PortTarget.PortTarget,
    given: OwnCase,
    verdict: History.Verdict,
    broken: History.Broken,
    lacking: Undecided
  ): Effect.fn.Return<Finding> {
    let best = { given, verdict, broken }
    const end = (yield* Clock.currentTimeMillis) + SHRINKING_MS
    for (let isSmaller = true; isSmaller; ) {
      isSmaller = false
      for (const value of smaller(best.given)) {
        if ((yield* Clock.currentTimeMillis) > end) break
        const again = yield* judge(target, value, lacking)
        if (again.verdict?.broken?.clause !== broken.clause) continue
        best = { given: again.given, verdict: again.verdict, broken: again.verdict.broken }
        isSmaller = true
        break
      }
    }
    return findingOf(best.given, best.broken, best.verdict)
  })

  const lackingOf = (target: PortTarget.PortTarget): Effect.Effect<Undecided> =>
    Effect.gen(function* () {
      const store = port.storeOf(target)
      const service = store === undefined ? undefined : yield* PortTarget.open(store, port.tag)
      return service === undefined ? new Map() : yield* port.undecided(service)
    }).pipe(
      Effect.scoped,
      Effect.catchCause(() => Effect.succeed(new Map()))
    )

  return {
    name: port.name,
    clausesOf: (target) =>
      port.storeOf(target) === undefined
        ? []
        : clauses.flatMap(({ slug }) => (port.owns(slug) ? [slug] : [])),
    run: Effect.fnUntraced(function* (
      target,
      { effort = 1, isWanted = () => true, seed: from, timeLimitMs }
    ) {
      const decided = new Map<ClauseSlug, number>()
      const findings = new Map<ClauseSlug, Finding>()
      const hasStore = port.storeOf(target) !== undefined
      const lacking = hasStore ? yield* lackingOf(target) : new Map<ClauseSlug, string>()
      const undecided = new Map(lacking)
      if (target.outage === undefined) {
        undecided.set(port.clauses.failsTyped, "no store whose backend does not respond is given (outage)")
      }
      const see = Effect.fnUntraced(function* (part: Partial<OwnCase>) {
        const { given, verdict } = yield* judge(target, { ...nothing, ...part }, lacking)
        if (verdict === undefined) return
        for (const [clause, times] of verdict.decided) decided.set(clause, (decided.get(clause) ?? 0) + times)
        for (const [clause, reason] of verdict.undecided) undecided.set(clause, reason)
        const { broken } = verdict
        if (broken === undefined || !isWanted(broken.clause) || findings.has(broken.clause)) return
        findings.set(broken.clause, yield* smallest(target, given, verdict, broken, lacking))
      })
      const isInterruption = ({ clients: all = [] }: Partial<OwnCase>): boolean =>
        all.flat().some(({ turns: after }) => after !== null)
      const { failsTyped, interruption } = port.clauses
      const others = clauses
        .map(({ slug }) => slug)
        .filter((slug) => port.owns(slug) && slug !== failsTyped && slug !== interruption)
      const isCaseWanted = (part: Partial<OwnCase>): boolean =>
        part.isOutage === true
          ? isWanted(failsTyped)
          : hasStore && (isInterruption(part) ? isWanted(interruption) : others.some(isWanted))
      const outage = port.outage.map((call) => ({ calls: [call], isOutage: true }))
      for (const part of [...outage, ...port.boundaries]) if (isCaseWanted(part)) yield* see(part)
      const end = (yield* Clock.currentTimeMillis) + (timeLimitMs ?? Infinity)
      for (const [kind, runs] of Object.entries(RUNS)) {
        const numRuns = Math.ceil(runs * effort)
        const parts: ReadonlyArray<Partial<OwnCase>> = fc.sample(
          generated[kind as keyof typeof RUNS], // its keys
          { seed: from, numRuns }
        )
        for (const part of parts) {
          if ((yield* Clock.currentTimeMillis) > end) break
          if (isCaseWanted(part)) yield* see(part)
        }
      }
      return { decided, findings: [...findings.values()], undecided }
    }),
    replay: Effect.fnUntraced(function* (target, value) {
      if (!isCase(value)) return yield* new CaseText.NotACase({ reason: `no case of the port ${port.name}` })
      const { given, verdict } = yield* judge(target, value, yield* lackingOf(target))
      return verdict?.broken === undefined ? undefined : findingOf(given, verdict.broken, verdict)
    })
  }
}

const suites: ReadonlyArray<Suite> = [suiteOf(pets), suiteOf(limits), suiteOf(keys)]
