/** Makes the calls of one case, and judges their results by the model of the port. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import type { Step } from "../evaluation/Finding.ts"
import * as Linearizability from "../linearizability/Linearizability.ts"
import * as Concurrent from "./Concurrent.ts"
import * as Got from "./Got.ts"
import type { AnyCall, Case, Invocation, Port, Reasons } from "./Port.ts"

/** A result that the model rejects. */
export class Broken extends Data.TaggedError("Broken")<{
  readonly clause: ClauseSlug
  readonly expected: string
  readonly actual: string
}> {}

export interface Verdict {
  readonly broken: Broken | undefined
  readonly steps: ReadonlyArray<Step>
  /** How often each clause was decided. */
  readonly decided: ReadonlyMap<ClauseSlug, number>
  readonly undecided: Reasons
}

/** More clients than this are judged in the order of their outputs, because the search would take too long. */
const MAX_SEARCHED = 6

/** Timeout of the calls of a case, and of one call during an outage, in milliseconds. */
const [TIMEOUT_MS, OUTAGE_TIMEOUT_MS] = [60_000, 10_000]

/** What a case is whose calls do not end in time. */
export const ENDLESS = "a call without an end"

/** Maximum number of states of a search. */
const MAX_STATES = 50_000

/** The verdict on a layer that cannot be built. */
export const unopened = (clause: ClauseSlug, actual: string): Verdict => ({
  broken: new Broken({ clause, expected: "the layer to open an empty store", actual }),
  steps: [],
  decided: new Map(),
  undecided: new Map()
})

/** Runs a case on an empty store. */
export const run = Effect.fnUntraced(function* <
  Tag,
  Service extends object,
  State,
  Call extends AnyCall,
  Output
>(
  port: Port<Tag, Service, State, Call, Output>,
  service: Service,
  reasons: Reasons,
  given: Case<Call>
): Effect.fn.Return<Verdict> {
  /** A call and what it turned out to be. */
  type Made = Invocation<State, Output> & { readonly call: Call }
  const { clauses, show } = port
  const client = port.client(service, reasons)
  const steps: Array<Step> = []
  const decided = new Map<ClauseSlug, number>()
  const undecided = new Map<ClauseSlug, string>()
  const decide = (clause: ClauseSlug): void => void decided.set(clause, (decided.get(clause) ?? 0) + 1)
  const operations: Array<Linearizability.Operation<Made, Output>> = []
  /** The calls in sequence after those of the clients. */
  let inTurn: Array<Linearizability.Operation<Made, Output>> = []
  let instant = 0
  /** The latest call in sequence. */
  let pending: Call | undefined
  /** The first call of a client that failed. */
  let failed: Pick<Broken, "expected" | "actual"> | undefined

  const judge = (
    state: State,
    made: Invocation<State, Output>,
    output: Output
  ): Effect.Effect<State, Broken> => {
    const { laws, next } = made.judge(state, output)
    for (const { clause, expected, holds } of laws) {
      decide(clause)
      if (!holds) return new Broken({ clause, expected: expected(), actual: show(output) })
    }
    return Effect.succeed(next)
  }

  /** Makes a call and records it as a step. */
  const make = (
    { did, failed: failing, make: making }: Invocation<State, Output>,
    turns: number | null,
    who: string
  ): Effect.Effect<Got.Got<Output>> =>
    Effect.map(Got.exitOf(making, turns), (exit) => {
      const got = Got.of(failing === undefined ? exit : Exit.succeed(failing(exit)), turns !== null, show)
      const interrupted = turns === null ? "" : `, interrupted after ${turns} turns`
      const shown = got === "unknown" ? "interrupted" : "failed" in got ? got.failed : show(got.output)
      steps.push({ did: `${who}${did}${interrupted}`, got: shown })
      return got
    })

  /** Makes calls in sequence and judges each. */
  const inSequence = Effect.fnUntraced(function* (
    calls: ReadonlyArray<Call>,
    before: State
  ): Effect.fn.Return<State, Broken> {
    let state = before
    for (const call of calls) {
      const invocation = client.begin(call, true)
      if (invocation === undefined) continue
      pending = call
      const got = yield* make(invocation, null, "")
      if (got === "unknown") continue
      if ("failed" in got) {
        const expected = `a result of ${invocation.did}`
        return yield* new Broken({ clause: failingOf(call), expected, actual: got.failed })
      }
      const completed = { at: instant++, output: got.output }
      inTurn.push({
        client: given.clients.length,
        input: { ...invocation, call },
        invokedAt: completed.at,
        completed
      })
      state = yield* judge(state, invocation, got.output)
    }
    return state
  })

  const failingOf = ({ do: name }: Call): ClauseSlug => port.failing[name as Call["do"]]

  const isInterrupted = given.clients.flat().some(({ turns }) => turns !== null)

  /** The clause that the clients' calls violate together. */
  const blamed = (): ClauseSlug =>
    isInterrupted
      ? clauses.interruption
      : port.concurrent(
          operations.map(({ input }) => input.call),
          reasons
        )

  /** Makes a call of a client, and records it for the search. */
  const asOperation = (who: number, call: Call, turns: number | null): Effect.Effect<void> =>
    Effect.suspend(() => {
      const invocation = client.begin(call, false)
      if (invocation === undefined) return Effect.void
      const input = { ...invocation, call }
      const invokedAt = instant++
      const name = who < given.clients.length ? `client ${who + 1}: ` : ""
      return Effect.map(make(invocation, turns, name), (got) => {
        const completed = got !== "unknown" && "output" in got
        operations.push({
          client: who,
          input,
          invokedAt,
          completed: completed ? { at: instant++, output: got.output } : undefined
        })
        if (got !== "unknown" && "failed" in got)
          failed ??= { expected: `a result of ${input.did}`, actual: got.failed }
      })
    })

  const concurrently = Concurrent.run(
    given.clients.map((calls, who) => calls.map(({ call, turns }) => asOperation(who, call, turns))),
    given.order
  )

  /** Searches for an order of calls that explains their results. */
  const search = (initial: State, history: ReadonlyArray<Linearizability.Operation<Made, Output>>) =>
    Linearizability.check<State, Made, Output>(
      {
        initial,
        step: (before, input, output) => {
          const { laws, next } = input.judge(before, output)
          return output === undefined || laws.every(({ holds }) => holds) ? next : undefined
        },
        key: port.key
      },
      history,
      { maxStates: MAX_STATES }
    )

  /** Judges the calls of clients: some order must explain their results. */
  const explain = (state: State): Effect.Effect<State, Broken> => {
    const clause = blamed()
    if (failed !== undefined) return new Broken({ clause, ...failed })
    if (given.clients.length > MAX_SEARCHED) {
      decide(clause)
      const rankOf = ({ completed }: (typeof operations)[number]): number =>
        completed === undefined ? Infinity : port.rank(completed.output)
      const ordered = operations.toSorted((a, b) => rankOf(a) - rankOf(b))
      const judged = Effect.reduce(
        ordered,
        () => state,
        (before, { completed, input }) =>
          completed === undefined ? Effect.succeed(before) : judge(before, input, completed.output)
      )
      return Effect.mapError(judged, ({ actual, expected }) => new Broken({ clause, expected, actual }))
    }
    const verdict = search(state, operations)
    if (verdict._tag === "Unknown") {
      // An unknown verdict decides nothing.
      undecided.set(clause, `no verdict on ${operations.length} calls after ${verdict.explored} states`)
      return Effect.succeed(state)
    }
    decide(clause)
    if (verdict._tag === "Linearizable") {
      return Effect.succeed(
        verdict.order.reduce(
          (before, { completed, input }) => input.judge(before, completed?.output).next,
          state
        )
      )
    }
    const stuck = verdict.stuck.map(
      ({ completed, input }) =>
        `${input.did} (${completed === undefined ? "interrupted" : show(completed.output)})`
    )
    return new Broken({
      clause,
      expected: "results that some order of the calls explains",
      actual: `no order of the calls explains ${stuck.join(" or ")}`
    })
  }

  const shown = (state: State): Effect.Effect<State, Broken> =>
    Effect.suspend(() => inSequence(client.closing(), state))

  const whole = Effect.gen(function* () {
    const before = yield* inSequence(given.calls, port.initial)
    if (given.clients.length === 0) return yield* shown(yield* inSequence(given.later, before))
    inTurn = []
    yield* concurrently
    if (isInterrupted) {
      // An interrupted call may take effect later, so all later calls belong to the search.
      for (const call of given.later) yield* asOperation(given.clients.length, call, null)
      for (const call of client.closing()) yield* asOperation(given.clients.length, call, null)
      return yield* explain(before)
    }
    const after = yield* explain(before)
    if (undecided.size > 0) return after
    // Another order of the clients' calls may explain the later ones.
    return yield* Effect.catch(
      Effect.flatMap(inSequence(given.later, after), shown),
      ({ actual, expected }) =>
        given.clients.length <= MAX_SEARCHED &&
        search(before, [...operations, ...inTurn])._tag === "Linearizable"
          ? Effect.succeed(after)
          : Effect.fail(new Broken({ clause: blamed(), expected, actual }))
    )
  })

  const duringOutage = Effect.gen(function* () {
    for (const call of given.calls) {
      const invocation = client.begin(call, false)
      if (invocation === undefined) continue
      const did = `${invocation.did}, while the backend does not respond`
      const orElse = () => Effect.die(new Error(`no result within ${OUTAGE_TIMEOUT_MS / 1_000} s`))
      const exit = yield* Effect.exit(
        Effect.timeoutOrElse(invocation.make, { duration: OUTAGE_TIMEOUT_MS, orElse })
      )
      const got = Got.duringOutage(exit)
      steps.push({ did, got })
      decide(clauses.failsTyped)
      if (got !== Got.UNAVAILABLE) {
        return yield* new Broken({ clause: clauses.failsTyped, expected: Got.UNAVAILABLE, actual: got })
      }
    }
  })

  const timed = Effect.timeoutOrElse(whole, {
    duration: TIMEOUT_MS,
    orElse: () => {
      const clause = given.clients.length > 0 || pending === undefined ? blamed() : failingOf(pending)
      const expected = `every call to end within ${TIMEOUT_MS / 1_000} s`
      return new Broken({ clause, expected, actual: ENDLESS })
    }
  })
  const result = yield* Effect.result<unknown, Broken, never>(given.isOutage ? duringOutage : timed)
  return { broken: Result.isFailure(result) ? result.failure : undefined, steps, decided, undecided }
})
