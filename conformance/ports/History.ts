/** Makes the calls of one case, and judges their results by the model of the port. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import type { Step } from "../evaluation/Finding.ts"
import * as Interleaving from "../linearizability/Interleaving.ts"
import * as Linearizability from "../linearizability/Linearizability.ts"
import * as Got from "./Got.ts"
import type { AnyInput, Case, Invocation, Port, Reasons } from "./Port.ts"

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
  Call,
  Input extends AnyInput,
  Output
>(
  port: Port<Tag, Service, State, Call, Input, Output>,
  service: Service,
  lacking: Reasons,
  given: Case<Call>
): Effect.fn.Return<Verdict> {
  const { clauses, model } = port
  const client = port.client(service, lacking)
  const steps: Array<Step> = []
  const decided = new Map<ClauseSlug, number>()
  const undecided = new Map<ClauseSlug, string>()
  const decide = (clause: ClauseSlug): void => void decided.set(clause, (decided.get(clause) ?? 0) + 1)
  const operations: Array<Linearizability.Operation<Input, Output>> = []
  let instant = 0
  /** The latest call in sequence. */
  let pending: Input | undefined
  /** The first call of a client that failed. */
  let failed: Pick<Broken, "expected" | "actual"> | undefined

  const judge = (state: State, input: Input, output: Output): Effect.Effect<State, Broken> => {
    const { laws, next } = model.step(state, input, output)
    for (const { clause, expected, holds } of laws) {
      decide(clause)
      if (!holds) return new Broken({ clause, expected: expected(), actual: model.show(output) })
    }
    return Effect.succeed(next)
  }

  /** Makes a call and records it as a step. */
  const make = (
    invocation: Invocation<Input, Output>,
    turns: number | null,
    who: string
  ): Effect.Effect<Got.Got<Output>> =>
    Effect.map(exitOf(invocation, turns), (exit) => {
      const got = Got.of(exit, turns !== null, model.show)
      const did = `${who}${invocation.input.did}`
      const interrupted = turns === null ? "" : `, interrupted after ${turns} turns`
      const shown = got === "unknown" ? "interrupted" : "failed" in got ? got.failed : model.show(got.output)
      steps.push({ did: `${did}${interrupted}`, got: shown })
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
      const { input } = invocation
      pending = input
      const got = yield* make(invocation, null, "")
      if (got === "unknown") continue
      if ("failed" in got) {
        const expected = `a result of ${input.did}`
        return yield* new Broken({
          clause: model.failing[input.do as Input["do"]],
          expected,
          actual: got.failed
        })
      }
      state = yield* judge(state, input, got.output)
    }
    return state
  })

  const isInterrupted = given.clients.flat().some(({ turns }) => turns !== null)

  /** The clause that the clients' calls violate together. */
  const blamed = (): ClauseSlug =>
    isInterrupted ? clauses.interruption : model.concurrent(operations.map(({ input }) => input))

  /** Makes a call of a client, and records it for the search. */
  const asOperation = (who: number, call: Call, turns: number | null): Effect.Effect<void> =>
    Effect.suspend(() => {
      const invocation = client.begin(call, false)
      if (invocation === undefined) return Effect.void
      const { input } = invocation
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

  const concurrently = Effect.suspend(() => {
    const clients = Effect.forEach(
      given.clients,
      (calls, who) =>
        Effect.forEach(
          calls,
          ({ call, turns }) => Effect.andThen(pause(who), asOperation(who, call, turns)),
          { discard: true }
        ),
      { concurrency: "unbounded", discard: true }
    )
    return given.order === null ? clients : interleaved(given.order, clients)
  })

  /** Judges the calls of clients: some order must explain their results. */
  const explain = (state: State): Effect.Effect<State, Broken> => {
    const clause = blamed()
    decide(clause)
    if (failed !== undefined) return new Broken({ clause, ...failed })
    if (given.clients.length > MAX_SEARCHED) {
      const rankOf = ({ completed, input }: (typeof operations)[number]): number =>
        completed === undefined ? Infinity : model.rank(input, completed.output)
      const ordered = operations.toSorted((a, b) => rankOf(a) - rankOf(b))
      const judged = Effect.reduce(
        ordered,
        () => state,
        (before, { completed, input }) =>
          completed === undefined ? Effect.succeed(before) : judge(before, input, completed.output)
      )
      return Effect.mapError(judged, ({ actual, expected }) => new Broken({ clause, expected, actual }))
    }
    const searched: Linearizability.Model<State, Input, Output> = {
      initial: state,
      step: (before, input, output) => {
        const { laws, next } = model.step(before, input, output)
        return output === undefined || laws.every(({ holds }) => holds) ? next : undefined
      },
      key: model.key
    }
    const verdict = Linearizability.check(searched, operations, { maxStates: MAX_STATES })
    if (verdict._tag === "Unknown") {
      undecided.set(clause, `no verdict on ${operations.length} calls after ${verdict.explored} states`)
      return Effect.succeed(state)
    }
    if (verdict._tag === "Linearizable") {
      return Effect.succeed(
        verdict.order.reduce(
          (before, { completed, input }) => model.step(before, input, completed?.output).next,
          state
        )
      )
    }
    const stuck = verdict.stuck.map(
      ({ completed, input }) =>
        `${input.did} (${completed === undefined ? "interrupted" : model.show(completed.output)})`
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
    const before = yield* inSequence(given.calls, model.initial)
    if (given.clients.length === 0) return yield* shown(yield* inSequence(given.later, before))
    yield* concurrently
    if (isInterrupted) {
      // An interrupted call may take effect later, so all later calls belong to the search.
      for (const call of given.later) yield* asOperation(given.clients.length, call, null)
      for (const call of client.closing()) yield* asOperation(given.clients.length, call, null)
      return yield* explain(before)
    }
    const after = yield* explain(before)
    if (undecided.size > 0) return after
    return yield* Effect.mapError(
      Effect.flatMap(inSequence(given.later, after), shown),
      ({ actual, expected }) => new Broken({ clause: blamed(), expected, actual })
    )
  })

  const duringOutage = Effect.gen(function* () {
    for (const call of given.calls) {
      const invocation = client.begin(call, false)
      if (invocation === undefined) continue
      const did = `${invocation.input.did}, while the backend does not respond`
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
      const clause =
        given.clients.length > 0
          ? blamed()
          : pending === undefined
            ? clauses.failsTyped
            : model.failing[pending.do as Input["do"]]
      const expected = `every call to end within ${TIMEOUT_MS / 1_000} s`
      return new Broken({ clause, expected, actual: "a call without an end" })
    }
  })
  const result = yield* Effect.result<unknown, Broken, never>(given.isOutage ? duringOutage : timed)
  return { broken: Result.isFailure(result) ? result.failure : undefined, steps, decided, undecided }
})

/** Makes a call, interrupts it after some turns, and returns its exit; a call that must fail succeeds by failing. */
const exitOf = <Input, Output>(
  { failed, make }: Invocation<Input, Output>,
  turns: number | null
): Effect.Effect<Exit.Exit<Output, unknown>> => {
  const exit = Got.exitOf(make, turns)
  return failed === undefined ? exit : Effect.map(exit, (ended) => Exit.succeed(failed(ended)))
}

/** Yields, and then runs as many steps as the number of the client, so that an interleaving splits calls differently. */
const pause = (who: number): Effect.Effect<void> =>
  Effect.andThen(
    Effect.yieldNow,
    Effect.all(
      Array.from({ length: who }, () => Effect.void),
      { discard: true }
    )
  )

/** Runs a program with its fibers interleaved step by step; the same seed gives the same order. */
const interleaved = <A, E>(seed: number, program: Effect.Effect<A, E>): Effect.Effect<A, E> => {
  const [scheduler] = fc.sample(fc.scheduler(), { seed, numRuns: 1 })
  if (scheduler === undefined) return Effect.die(new Error("fast-check returned no sample"))
  return Effect.flatten(Effect.promise((signal) => Interleaving.run(scheduler, program, { signal })))
}
