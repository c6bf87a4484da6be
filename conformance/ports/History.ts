/** Makes the calls of one case, and judges their results by the model of the port. */
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import type { Step } from "../clauses/Finding.ts"
import * as Interleaving from "../linearizability/Interleaving.ts"
import * as Linearizability from "../linearizability/Linearizability.ts"
import type { Call, Case, Invocation, Law, Port, Reasons, Ruling, Seen } from "./Port.ts"

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
  /** Each decision on a clause. */
  readonly decided: ReadonlyArray<ClauseSlug>
  readonly undecided: Reasons
}

/** The verdict on one result that needs no model. */
export const verdictOn = (
  clause: ClauseSlug,
  expected: string,
  actual: string,
  { kinds = [], steps = [] }: Partial<Pick<Broken, "kinds"> & Pick<Verdict, "steps">> = {}
): Verdict => ({
  broken: actual === expected ? undefined : new Broken({ clause, expected, actual, kinds }),
  steps,
  decided: [clause],
  undecided: new Map()
})

/** Timeout of the calls of a case, and of one call during an outage, in milliseconds. */
const [TIMEOUT_MS, OUTAGE_TIMEOUT_MS] = [60_000, 10_000]

/** What a case is whose calls do not end in time. */
export const ENDLESS = "a call without an end"

/** Maximum number of states of a search. */
const MAX_STATES = 10_000

/** Runs a case on an empty store. */
export const run = Effect.fnUntraced(function* <Tag, Service extends object, Session, State>(
  port: Port<Tag, Service, Session, State>,
  service: Service,
  reasons: Reasons,
  { calls, clients, order }: Case
): Effect.fn.Return<Verdict> {
  type Blame = Pick<Broken, "clause" | "kinds">
  type Made = Invocation<State> & Blame
  const session = port.open(service, reasons)
  const steps: Array<Step> = []
  const decided: Array<ClauseSlug> = []
  const undecided = new Map<ClauseSlug, string>()
  const operations: Array<Linearizability.Operation<Made, Seen<State>>> = []
  let instant = 0
  const ofClients = clients.flat()
  /** The clause that the clients' calls violate together. */
  const together = ofClients.some(({ turns }) => turns !== null)
    ? (`${port.name}.interruption` as const)
    : port.concurrent(new Set(ofClients.map(({ call: [kind] }) => kind)))
  /** What the latest call violates if it fails. */
  let latest: Blame = { clause: together, kinds: [] }

  /** Makes a call and records it; `client` is absent if it is made in sequence. */
  const make = Effect.fnUntraced(function* (
    [name, args]: Call,
    client?: string,
    turns: number | null = null
  ) {
    const kind = port.kinds[name]
    const invocation = kind?.begin(session, args, client === undefined)
    if (kind === undefined || invocation === undefined) return undefined
    const { did, failure, interrupted } = invocation
    const blame = { clause: client === undefined ? kind.clause : together, kinds: [name] }
    latest = blame
    const invokedAt = instant++
    const exit = yield* exitOf(invocation.make, turns)
    const isInterrupted = turns !== null && Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)
    const seen = Exit.isSuccess(exit) ? exit.value : isInterrupted ? interrupted : failure
    const got = seen?.shown ?? textOf(exit)
    steps.push({
      did: `${client ?? ""}${did}${turns === null ? "" : `, interrupted after ${turns} turns`}`,
      got
    })
    if (seen === undefined)
      return yield* new Broken({ ...blame, expected: `a result of ${did}`, actual: got })
    const completed = seen === interrupted ? undefined : { at: instant++, output: seen }
    if (client !== undefined) operations.push({ input: { ...invocation, ...blame }, invokedAt, completed })
    return seen
  })

  /** Makes calls in sequence and judges each. */
  const inSequence = Effect.fnUntraced(function* (sequence: ReadonlyArray<Call>, before: State) {
    let state = before
    for (const call of sequence) {
      const seen = yield* make(call)
      if (seen === undefined) continue
      const next = outcomeOf(seen.judge(state), decided)
      if (Result.isFailure(next)) {
        const { clause, expected } = next.failure
        return yield* new Broken({ ...latest, clause, expected: expected(), actual: seen.shown })
      }
      state = next.success
    }
    return state
  })

  /** Judges the calls of clients, and those after them: some order must explain their results. */
  const explain = (initial: State): Effect.Effect<void, Broken> => {
    const model: Linearizability.Model<State, Made, Seen<State>> = {
      initial,
      step: (before, { interrupted }, { judge } = interrupted) =>
        Result.getOrUndefined(outcomeOf(judge(before))),
      key: port.key
    }
    const verdict = Linearizability.check(model, operations, MAX_STATES)
    if (verdict._tag === "Unknown") {
      // An unknown verdict decides nothing.
      undecided.set(together, `no verdict on ${operations.length} calls after ${verdict.explored} states`)
      return Effect.void
    }
    decided.push(together)
    if (verdict._tag === "Linearizable") return Effect.void
    const stuck = verdict.stuck.map(
      ({ completed, input }) => `${input.did} (${(completed?.output ?? input.interrupted).shown})`
    )
    return new Broken({
      clause: together,
      expected: "results that some order of the calls explains",
      actual: `no order of the calls explains ${stuck.join(" or ")}`,
      kinds: verdict.stuck.flatMap(({ input }) => input.kinds)
    })
  }

  const concurrently = Effect.forEach(
    clients,
    (own, client) =>
      Effect.forEach(own, ({ call, turns }) =>
        Effect.andThen(pause(client), make(call, `client ${client + 1}: `, turns))
      ),
    { concurrency: "unbounded", discard: true }
  )

  const whole = Effect.gen(function* () {
    const before = yield* inSequence(calls, port.initial)
    if (clients.length === 0) return yield* inSequence(port.closing(session), before)
    yield* order === null ? concurrently : Interleaving.run(order, concurrently)
    // An interrupted call may take effect later, and results of later calls may exclude an order.
    for (const call of port.closing(session)) yield* make(call, "")
    return yield* explain(before)
  })
  const inTime = Effect.timeoutOrElse(whole, {
    duration: TIMEOUT_MS,
    orElse: () => {
      const expected = `every call to end within ${TIMEOUT_MS / 1_000} s`
      return new Broken({ ...latest, expected, actual: ENDLESS })
    }
  })
  const result = yield* Effect.result<unknown, Broken, never>(inTime)
  return { broken: Result.isFailure(result) ? result.failure : undefined, steps, decided, undecided }
})

/** Makes a call while the backend does not respond; `undefined` if it cannot be made. */
export const duringOutage = Effect.fnUntraced(function* <Tag, Service extends object, Session, State>(
  port: Port<Tag, Service, Session, State>,
  service: Service,
  [name, args]: Call
): Effect.fn.Return<Verdict | undefined> {
  const invocation = port.kinds[name]?.begin(port.open(service, new Map()), args, false)
  if (invocation === undefined) return undefined
  const orElse = () => Effect.die(new Error(`no result within ${OUTAGE_TIMEOUT_MS / 1_000} s`))
  const exit = yield* Effect.exit(
    Effect.timeoutOrElse(invocation.make, { duration: OUTAGE_TIMEOUT_MS, orElse })
  )
  const isUnavailable =
    Exit.isFailure(exit) && exit.cause.reasons.length > 0 && exit.cause.reasons.every(isTyped)
  const got = isUnavailable ? UNAVAILABLE : textOf(exit)
  const steps = [{ did: `${invocation.did}, while the backend does not respond`, got }]
  return verdictOn(`${port.name}.fails-typed`, UNAVAILABLE, got, { kinds: [name], steps })
})

const UNAVAILABLE = "StoreUnavailable"

const isTyped = (reason: Cause.Reason<unknown>): boolean =>
  Cause.isFailReason(reason) &&
  reason.error instanceof StoreUnavailable &&
  typeof reason.error.retryable === "boolean"

/** Describes a result that is not expected. */
const textOf = (exit: Exit.Exit<unknown, unknown>): string => {
  if (Exit.isSuccess(exit)) return "a result, as if nothing were wrong"
  const { cause } = exit
  const failure = cause.reasons.find(Cause.isFailReason)?.error
  if (failure instanceof StoreUnavailable) return `${UNAVAILABLE}: ${String(failure.cause)}`
  if (failure !== undefined) return `a failure that is not ${UNAVAILABLE}: ${String(failure)}`
  return Cause.hasInterruptsOnly(cause)
    ? "an interruption"
    : `a defect: ${Cause.pretty(cause).split("\n")[0]}`
}

/** Makes a call, and interrupts it after some turns of its fiber if `turns` is not null. */
const exitOf = Effect.fnUntraced(function* <A>(
  call: Effect.Effect<A, unknown>,
  turns: number | null
): Effect.fn.Return<Exit.Exit<A, unknown>> {
  const fiber = yield* Effect.forkChild(call)
  for (let turn = 0; turn < (turns ?? 0); turn++) yield* Effect.yieldNow
  if (turns !== null) yield* Fiber.interrupt(fiber)
  return yield* Fiber.await(fiber)
})

/** Returns the state after a result, or the first law that the result breaks; adds the clauses of laws to `decided`. */
const outcomeOf = <State>(
  ruling: Ruling<State>,
  decided: Array<ClauseSlug> = []
): Result.Result<State, Law> => {
  for (;;) {
    const next = ruling.next()
    if (next.done === true) return Result.succeed(next.value)
    decided.push(next.value.clause)
    if (!next.value.holds) return Result.fail(next.value)
  }
}

/** Yields, and then runs as many steps as the number of the client, so that an interleaving splits calls differently. */
const pause = (client: number): Effect.Effect<void> => {
  const steps = Array.from({ length: client }, () => Effect.void)
  return Effect.andThen(Effect.yieldNow, Effect.all(steps, { discard: true }))
}
