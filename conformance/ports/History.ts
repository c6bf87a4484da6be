/** Makes the calls of one case, and judges their results by the model of the port. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import type { Finding, Step } from "../clauses/Finding.ts"
import * as Interleaving from "../linearizability/Interleaving.ts"
import * as Linearizability from "../linearizability/Linearizability.ts"
import type { Call, Case, Drawn, Port, Seen } from "./Port.ts"

/** A violation without the calls that show it. */
type Broken = Omit<Finding, "steps">

/** What cases decided: how often each clause, and why others are undecided. */
export interface Tally {
  readonly decided: Map<ClauseSlug, number>
  readonly undecided: Map<ClauseSlug, string>
}

/** Counts a decision on a clause. */
export const count = ({ decided }: Tally, clause: ClauseSlug): void =>
  void decided.set(clause, (decided.get(clause) ?? 0) + 1)

/** Timeout of the calls of a case, and of one call during an outage, in milliseconds. */
const [TIMEOUT_MS, OUTAGE_TIMEOUT_MS] = [60_000, 10_000]

/** What a case is whose calls do not end in time. */
export const ENDLESS = "a call without an end"

const INTERRUPTED = "interrupted"

/** Maximum number of states of a search. */
const MAX_STATES = 10_000

/** Runs a case on an empty store, without calls of kinds that are not offered; returns a violation, if any. */
export const run = Effect.fnUntraced(function* <Tag, Service extends object, Session, State>(
  port: Port<Tag, Service, Session, State>,
  service: Service,
  isOffered: (call: Drawn<Session, State>) => boolean,
  tally: Tally,
  { calls, clients, order }: Case<Session, State>
): Effect.fn.Return<Finding | undefined> {
  type Blame = Pick<Finding, "clause" | "shapes">
  const session = port.open(service)
  const steps: Array<Step> = []
  const operations: Array<Linearizability.Operation<Call<State> & { kind: string }, Seen<State>>> = []
  let instant = 0
  const ofClients = clients.flat().filter(isOffered)
  const [first, ...others] = new Set(ofClients.map(({ kind }) => kind))
  /** The clause that the clients' calls violate together. */
  const together = ofClients.some(({ turns }) => turns !== undefined)
    ? (`${port.name}.interruption` as const)
    : (others.length === 0 && port.kinds[first ?? ""]?.together) || port.together
  /** What the latest call violates if it fails. */
  let latest: Blame = { clause: together, shapes: [] }

  /** Makes a call and records it; `client` is absent if it is made in sequence. */
  const make = Effect.fnUntraced(function* ({ begin, kind, turns }: Drawn<Session, State>, client?: string) {
    const call = begin(session, client === undefined)
    const clause = client === undefined ? port.kinds[kind]?.clause : together
    const blame = { clause: clause ?? together, shapes: [`${port.name} ${kind}`] }
    latest = blame
    const invokedAt = instant++
    const exit = yield* exitOf(call.make, turns)
    const isInterrupted = turns !== undefined && Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)
    const got = Exit.isSuccess(exit) ? exit.value.shown : isInterrupted ? INTERRUPTED : textOf(exit)
    const did = `${client ?? ""}${call.did}${turns === undefined ? "" : `, interrupted after ${turns} turns`}`
    steps.push({ did, got })
    if (Exit.isFailure(exit) && !isInterrupted)
      return yield* Effect.fail<Broken>({ ...blame, expected: `a result of ${call.did}`, actual: got })
    const completed = Exit.isSuccess(exit) ? { at: instant++, output: exit.value } : undefined
    if (client !== undefined) operations.push({ input: { ...call, kind }, invokedAt, completed })
    return completed?.output
  })

  /** Makes calls in sequence and judges each. */
  const inSequence = Effect.fnUntraced(function* (
    sequence: ReadonlyArray<Drawn<Session, State>>,
    from: State
  ) {
    let state = from
    for (const { begin, kind } of sequence.filter(isOffered)) {
      const seen = yield* make({ begin, kind })
      if (seen === undefined) continue
      const { after, broken } = outcomeOf(seen, state, (clause) => count(tally, clause))
      if (broken !== undefined)
        return yield* Effect.fail<Broken>({ ...latest, ...broken, actual: seen.shown })
      state = after
    }
    return state
  })

  /** Judges the calls of clients, and those after them: some order must explain their results. */
  const explain = (initial: State): Effect.Effect<void, Broken> => {
    const model: Linearizability.Model<State, Call<State>, Seen<State>> = {
      initial,
      step: (before, { interrupted }, output) => {
        if (output === undefined) return interrupted(before)
        const { after, broken } = outcomeOf(output, before)
        return broken === undefined ? after : undefined
      },
      key: port.key
    }
    const verdict = Linearizability.check(model, operations, MAX_STATES)
    if (verdict._tag === "Unknown") {
      // An unknown verdict decides nothing.
      tally.undecided.set(
        together,
        `no verdict on ${operations.length} calls after ${verdict.explored} states`
      )
      return Effect.void
    }
    count(tally, together)
    if (verdict._tag === "Linearizable") return Effect.void
    const stuck = verdict.stuck.map(
      ({ completed, input }) => `${input.did} (${completed?.output.shown ?? INTERRUPTED})`
    )
    return Effect.fail<Broken>({
      clause: together,
      expected: "results that some order of the calls explains",
      actual: `no order of the calls explains ${stuck.join(" or ")}`,
      shapes: verdict.stuck.map(({ input }) => `${port.name} ${input.kind}`)
    })
  }

  const concurrently = Effect.forEach(
    clients,
    (own, client) =>
      Effect.forEach(own.filter(isOffered), (call) =>
        Effect.andThen(Effect.yieldNow, make(call, `client ${client + 1}: `))
      ),
    { concurrency: "unbounded", discard: true }
  )

  const whole = Effect.gen(function* () {
    const before = yield* inSequence(calls, port.initial)
    if (ofClients.length === 0) return yield* inSequence(port.closing(session), before)
    yield* order === null ? concurrently : Interleaving.run(order, concurrently)
    // An interrupted call may take effect later, and results of later calls may exclude an order.
    for (const call of port.closing(session).filter(isOffered)) yield* make(call, "")
    return yield* explain(before)
  })
  return yield* whole.pipe(
    Effect.timeoutOrElse({
      duration: TIMEOUT_MS,
      orElse: () => {
        const expected = `every call to end within ${TIMEOUT_MS / 1_000} s`
        return Effect.fail<Broken>({ ...latest, expected, actual: ENDLESS })
      }
    }),
    Effect.match({ onFailure: (broken) => ({ ...broken, steps }), onSuccess: () => undefined })
  )
})

/** Makes a call while the backend does not respond; returns a violation, if any. */
export const duringOutage = Effect.fnUntraced(function* <State>(
  { did, make }: Call<State>,
  blame: Pick<Finding, "clause" | "shapes">
): Effect.fn.Return<Finding | undefined> {
  const orElse = () => Effect.die(new Error(`no result within ${OUTAGE_TIMEOUT_MS / 1_000} s`))
  const exit = yield* Effect.exit(Effect.timeoutOrElse(make, { duration: OUTAGE_TIMEOUT_MS, orElse }))
  const reasons = Exit.isFailure(exit) ? exit.cause.reasons : []
  const isTyped = (reason: Cause.Reason<unknown>) =>
    Cause.isFailReason(reason) && reason.error instanceof StoreUnavailable
  if (reasons.length > 0 && reasons.every(isTyped)) return undefined
  const actual = textOf(exit)
  const steps = [{ did: `${did}, while the backend does not respond`, got: actual }]
  return { ...blame, expected: UNAVAILABLE, actual, steps }
})

const UNAVAILABLE = "StoreUnavailable"

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

/** Makes a call, and interrupts it after some turns of its fiber if `turns` is given. */
const exitOf = Effect.fnUntraced(function* <A>(
  call: Effect.Effect<A, unknown>,
  turns: number | undefined
): Effect.fn.Return<Exit.Exit<A, unknown>> {
  const fiber = yield* Effect.forkChild(call)
  for (let turn = 0; turn < (turns ?? 0); turn++) yield* Effect.yieldNow
  if (turns !== undefined) yield* Fiber.interrupt(fiber)
  return yield* Fiber.await(fiber)
})

/** Returns the state after a result, or the first clause that the result violates; `onDecision` gets each decided one. */
const outcomeOf = <State>(
  seen: Seen<State>,
  before: State,
  onDecision: (clause: ClauseSlug) => void = () => undefined
) => {
  const broken: Array<Pick<Finding, "clause" | "expected">> = []
  const after = seen.judge(before, (clause, holds, expected) => {
    if (broken.length > 0) return
    onDecision(clause)
    if (!holds) broken.push({ clause, expected: expected() })
  })
  return { after, broken: broken[0] }
}
