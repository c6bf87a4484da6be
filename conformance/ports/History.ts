/** Makes the calls of one case, and judges their results by the model of the port. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import type { Step } from "../clauses/Finding.ts"
import * as Interleaving from "../linearizability/Interleaving.ts"
import * as Linearizability from "../linearizability/Linearizability.ts"
import * as Got from "./Got.ts"
import type { Call, Case, Invocation, Port, Reasons, Seen } from "./Port.ts"

/** A result that the model rejects. */
export class Broken extends Data.TaggedError("Broken")<{
  readonly clause: ClauseSlug
  readonly expected: string
  readonly actual: string
  /** The kinds of the calls with such results. */
  readonly kinds: ReadonlyArray<string>
}> {}

export interface Verdict {
  readonly broken: Broken | undefined
  readonly steps: ReadonlyArray<Step>
  /** How often each clause was decided. */
  readonly decided: ReadonlyMap<ClauseSlug, number>
  readonly undecided: Reasons
}

/** Timeout of the calls of a case, and of one call during an outage, in milliseconds. */
const [TIMEOUT_MS, OUTAGE_TIMEOUT_MS] = [60_000, 10_000]

/** What a case is whose calls do not end in time. */
export const ENDLESS = "a call without an end"

/** Maximum number of states of a search. */
const MAX_STATES = 10000

/** The verdict on a layer that cannot be built. */
export const unopened = (clause: ClauseSlug, actual: string): Verdict => ({
  broken: new Broken({ clause, expected: "the layer to open an empty store", actual, kinds: [] }),
  steps: [],
  decided: new Map(),
  undecided: new Map()
})

/** Runs a case on an empty store. */
export const run = Effect.fnUntraced(function* <Tag, Service extends object, Session, State>(
  port: Port<Tag, Service, Session, State>,
  service: Service,
  reasons: Reasons,
  given: Case
): Effect.fn.Return<Verdict> {
  type Made = Invocation<State> & { readonly kind: string }
  const session = port.open(service, reasons)
  const steps: Array<Step> = []
  const decided = new Map<ClauseSlug, number>()
  const undecided = new Map<ClauseSlug, string>()
  const operations: Array<Linearizability.Operation<Made, Seen<State>>> = []
  let instant = 0
  /** The latest call in sequence. */
  let latest: Call | undefined
  /** The first call of a client that failed. */
  let failed: Pick<Broken, "expected" | "actual" | "kinds"> | undefined

  const decide = (clause: ClauseSlug): void => void decided.set(clause, (decided.get(clause) ?? 0) + 1)
  const clauseOf = ({ do: kind }: Call): ClauseSlug =>
    port.kinds[kind]?.clause ?? (`${port.name}.fails-typed` as const)
  const begin = (call: Call, isAlone: boolean) => port.kinds[call.do]?.begin(session, call, isAlone)

  /** Makes a call and records it as a step. */
  const make = ({ did, failure, make: making }: Invocation<State>, turns: number | null, who: string) =>
    Effect.tap(Got.of(making, turns, failure), (got) =>
      Effect.sync(() => {
        const shown = got === "interrupted" ? got : "failed" in got ? got.failed : got.value.shown
        steps.push({
          did: `${who}${did}${turns === null ? "" : `, interrupted after ${turns} turns`}`,
          got: shown
        })
      })
    )

  /** Makes calls in sequence and judges each. */
  const inSequence = Effect.fnUntraced(function* (
    calls: ReadonlyArray<Call>,
    before: State
  ): Effect.fn.Return<State, Broken> {
    let state = before
    for (const call of calls) {
      const invocation = begin(call, true)
      if (invocation === undefined) continue
      latest = call
      const kinds = [call.do]
      const got = yield* make(invocation, null, "")
      if (got === "interrupted") continue
      if ("failed" in got) {
        const expected = `a result of ${invocation.did}`
        return yield* new Broken({ clause: clauseOf(call), expected, actual: got.failed, kinds })
      }
      const { laws, next } = got.value.judge(state)
      for (const { clause, expected, holds } of laws) {
        decide(clause)
        if (!holds) return yield* new Broken({ clause, expected: expected(), actual: got.value.shown, kinds })
      }
      state = next
    }
    return state
  })

  const isInterrupted = given.clients.flat().some(({ turns }) => turns !== null)

  /** Returns the clause that the clients' calls violate together. */
  const blamed = (): ClauseSlug =>
    isInterrupted
      ? `${port.name}.interruption`
      : port.concurrent(new Set(given.clients.flat().map(({ call }) => call.do)))

  /** Makes a call of a client, and records it for the search. */
  const asOperation = (client: number, call: Call, turns: number | null): Effect.Effect<void> =>
    Effect.suspend(() => {
      const invocation = begin(call, false)
      if (invocation === undefined) return Effect.void
      const input = { ...invocation, kind: call.do }
      const invokedAt = instant++
      const name = client < given.clients.length ? `client ${client + 1}: ` : ""
      return Effect.map(make(invocation, turns, name), (got) => {
        const completed =
          got !== "interrupted" && "value" in got ? { at: instant++, output: got.value } : undefined
        operations.push({ input, invokedAt, completed })
        if (got !== "interrupted" && "failed" in got)
          failed ??= { expected: `a result of ${input.did}`, actual: got.failed, kinds: [call.do] }
      })
    })

  const concurrently = Effect.forEach(
    given.clients,
    (calls, client) =>
      Effect.forEach(
        calls,
        ({ call, turns }) => Effect.andThen(pause(client), asOperation(client, call, turns)),
        { discard: true }
      ),
    { concurrency: "unbounded", discard: true }
  )

  /** Judges the calls of clients, and those after them: some order must explain their results. */
  const explain = (initial: State): Effect.Effect<void, Broken> => {
    const clause = blamed()
    if (failed !== undefined) return new Broken({ clause, ...failed })
    const model: Linearizability.Model<State, Made, Seen<State>> = {
      initial,
      step: (before, input, seen) => {
        if (seen === undefined) return input.assume(before)
        const { laws, next } = seen.judge(before)
        return laws.every(({ holds }) => holds) ? next : undefined
      },
      key: port.key
    }
    const verdict = Linearizability.check(model, operations, MAX_STATES)
    if (verdict._tag === "Unknown") {
      // An unknown verdict decides nothing.
      undecided.set(clause, `no verdict on ${operations.length} calls after ${verdict.explored} states`)
      return Effect.void
    }
    decide(clause)
    if (verdict._tag === "Linearizable") return Effect.void
    const stuck = verdict.stuck.map(
      ({ completed, input }) => `${input.did} (${completed?.output.shown ?? "interrupted"})`
    )
    return new Broken({
      clause,
      expected: "results that some order of the calls explains",
      actual: `no order of the calls explains ${stuck.join(" or ")}`,
      kinds: verdict.stuck.map(({ input }) => input.kind)
    })
  }

  const whole = Effect.gen(function* () {
    const before = yield* inSequence(given.calls, port.initial)
    if (given.clients.length === 0) {
      yield* inSequence(port.closing(session), before)
      return
    }
    yield* given.order === null ? concurrently : Interleaving.run(given.order, concurrently)
    // An interrupted call may take effect later, and results of later calls may exclude an order.
    for (const call of port.closing(session)) yield* asOperation(given.clients.length, call, null)
    yield* explain(before)
  })

  const duringOutage = Effect.gen(function* () {
    const clause = `${port.name}.fails-typed` as const
    for (const call of given.calls) {
      const invocation = begin(call, false)
      if (invocation === undefined) continue
      const orElse = () => Effect.die(new Error(`no result within ${OUTAGE_TIMEOUT_MS / 1_000} s`))
      const exit = yield* Effect.exit(
        Effect.timeoutOrElse(invocation.make, { duration: OUTAGE_TIMEOUT_MS, orElse })
      )
      const got = Got.duringOutage(exit)
      steps.push({ did: `${invocation.did}, while the backend does not respond`, got })
      decide(clause)
      if (got !== Got.UNAVAILABLE)
        return yield* new Broken({ clause, expected: Got.UNAVAILABLE, actual: got, kinds: [call.do] })
    }
  })

  const timed = Effect.timeoutOrElse(whole, {
    duration: TIMEOUT_MS,
    orElse: () => {
      const clause = given.clients.length > 0 || latest === undefined ? blamed() : clauseOf(latest)
      const expected = `every call to end within ${TIMEOUT_MS / 1_000} s`
      return new Broken({ clause, expected, actual: ENDLESS, kinds: [latest?.do ?? ""] })
    }
  })
  const result = yield* Effect.result<unknown, Broken, never>(given.isOutage ? duringOutage : timed)
  return { broken: Result.isFailure(result) ? result.failure : undefined, steps, decided, undecided }
})

/** Yields, and then runs as many steps as the number of the client, so that an interleaving splits calls differently. */
const pause = (client: number): Effect.Effect<void> => {
  const steps = Array.from({ length: client }, () => Effect.void)
  return Effect.andThen(Effect.yieldNow, Effect.all(steps, { discard: true }))
}
