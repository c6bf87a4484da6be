/** Makes the calls of one case, and judges their results by the model of the port. */
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import type { Finding, Step } from "../clauses/Finding.ts"
import * as Interleaving from "../linearizability/Interleaving.ts"
import * as Linearizability from "../linearizability/Linearizability.ts"
import type { Call, Case, Drawn, Port, Reasons, Seen } from "./Port.ts"

/** A result that the model rejects. */
class Broken extends Data.TaggedError("Broken")<Omit<Finding, "steps">> {}

export interface Verdict {
  readonly finding: Finding | undefined
  /** Each decision on a clause. */
  readonly decided: ReadonlyArray<ClauseSlug>
  readonly undecided: Reasons
}

/** The verdict on one result that needs no model. */
export const verdictOn = (
  clause: ClauseSlug,
  expected: string,
  actual: string,
  { shapes = [], steps = [] }: Partial<Pick<Finding, "shapes" | "steps">> = {}
): Verdict => ({
  finding: actual === expected ? undefined : { clause, expected, actual, shapes, steps },
  decided: [clause],
  undecided: new Map()
})

/** Timeout of the calls of a case, and of one call during an outage, in milliseconds. */
const [TIMEOUT_MS, OUTAGE_TIMEOUT_MS] = [60_000, 10_000]

/** What a case is whose calls do not end in time. */
export const ENDLESS = "a call without an end"

const INTERRUPTED = "interrupted"

/** Maximum number of states of a search. */
const MAX_STATES = 10_000

/** Runs a case on an empty store. */
export const run = Effect.fnUntraced(function* <Tag, Service extends object, Session, State>(
  port: Port<Tag, Service, Session, State>,
  service: Service,
  reasons: Reasons,
  { calls, clients, order }: Case<Session, State>
): Effect.fn.Return<Verdict> {
  type Blame = Pick<Finding, "clause" | "shapes">
  const session = port.open(service)
  const steps: Array<Step> = []
  const decided: Array<ClauseSlug> = []
  const undecided = new Map<ClauseSlug, string>()
  const operations: Array<Linearizability.Operation<Call<State> & { kind: string }, Seen<State>>> = []
  let instant = 0
  const ofClients = clients.flat()
  const [first, ...others] = new Set(ofClients.map(({ call }) => call.kind))
  /** The clause that the clients' calls violate together. */
  const together = ofClients.some(({ turns }) => turns !== null)
    ? (`${port.name}.interruption` as const)
    : (others.length === 0 && port.kinds[first ?? ""]?.together) || port.together
  /** What the latest call violates if it fails. */
  let latest: Blame = { clause: together, shapes: [] }

  /** Makes a call and records it; `client` is absent if it is made in sequence. */
  const make = Effect.fnUntraced(function* (
    { begin, kind: name }: Drawn<Session, State>,
    client?: string,
    turns: number | null = null
  ) {
    const kind = port.kinds[name]
    if (kind === undefined || isLacking(kind, service) || reasons.has(kind.clause)) return undefined
    const call = begin(session, client === undefined)
    const blame = { clause: client === undefined ? kind.clause : together, shapes: [`${port.name} ${name}`] }
    latest = blame
    const invokedAt = instant++
    const exit = yield* exitOf(call.make, turns)
    const isInterrupted = turns !== null && Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)
    const got = Exit.isSuccess(exit) ? exit.value.shown : isInterrupted ? INTERRUPTED : textOf(exit)
    const did = `${client ?? ""}${call.did}${turns === null ? "" : `, interrupted after ${turns} turns`}`
    steps.push({ did, got })
    if (Exit.isFailure(exit) && !isInterrupted)
      return yield* new Broken({ ...blame, expected: `a result of ${call.did}`, actual: got })
    const completed = Exit.isSuccess(exit) ? { at: instant++, output: exit.value } : undefined
    if (client !== undefined) operations.push({ input: { ...call, kind: name }, invokedAt, completed })
    return completed?.output
  })

  /** Makes calls in sequence and judges each. */
  const inSequence = Effect.fnUntraced(function* (
    sequence: ReadonlyArray<Drawn<Session, State>>,
    from: State
  ) {
    let state = from
    for (const drawn of sequence) {
      const seen = yield* make(drawn)
      if (seen === undefined) continue
      const { after, broken } = outcomeOf(seen, state, decided)
      if (broken !== undefined) return yield* new Broken({ ...latest, ...broken, actual: seen.shown })
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
      undecided.set(together, `no verdict on ${operations.length} calls after ${verdict.explored} states`)
      return Effect.void
    }
    decided.push(together)
    if (verdict._tag === "Linearizable") return Effect.void
    const stuck = verdict.stuck.map(
      ({ completed, input }) => `${input.did} (${completed?.output.shown ?? INTERRUPTED})`
    )
    return new Broken({
      clause: together,
      expected: "results that some order of the calls explains",
      actual: `no order of the calls explains ${stuck.join(" or ")}`,
      shapes: verdict.stuck.map(({ input }) => `${port.name} ${input.kind}`)
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
    // The store may lack the methods of all these calls.
    if (operations.length === 0) return yield* inSequence(port.closing(session), before)
    // An interrupted call may take effect later, and results of later calls may exclude an order.
    for (const call of port.closing(session)) yield* make(call, "")
    return yield* explain(before)
  })
  const finding = yield* whole.pipe(
    Effect.timeoutOrElse({
      duration: TIMEOUT_MS,
      orElse: () => {
        const expected = `every call to end within ${TIMEOUT_MS / 1_000} s`
        return new Broken({ ...latest, expected, actual: ENDLESS })
      }
    }),
    Effect.match({
      onFailure: ({ actual, clause, expected, shapes }) => ({ clause, expected, actual, shapes, steps }),
      onSuccess: () => undefined
    })
  )
  return { finding, decided, undecided }
})

/** Whether a store lacks the method of a kind of calls. */
export const isLacking = (
  { method }: { readonly method?: string | undefined } = {},
  service: object
): boolean => method !== undefined && Reflect.get(service, method) === undefined

/** Makes one of the calls while the backend does not respond; `undefined` if the store lacks the method. */
export const duringOutage = Effect.fnUntraced(function* <Tag, Service extends object, Session, State>(
  port: Port<Tag, Service, Session, State>,
  service: Service,
  calls: ReadonlyArray<Drawn<Session, State>>
): Effect.fn.Return<Verdict | undefined> {
  const session = port.open(service)
  const [longest] = calls
    .filter(({ kind }) => !isLacking(port.kinds[kind], service))
    .map(({ begin, kind }) => ({ ...begin(session, false), kind }))
    .toSorted((a, b) => b.did.length - a.did.length)
  if (longest === undefined) return undefined
  const orElse = () => Effect.die(new Error(`no result within ${OUTAGE_TIMEOUT_MS / 1_000} s`))
  const exit = yield* Effect.exit(Effect.timeoutOrElse(longest.make, { duration: OUTAGE_TIMEOUT_MS, orElse }))
  const isUnavailable =
    Exit.isFailure(exit) && exit.cause.reasons.length > 0 && exit.cause.reasons.every(isTyped)
  const got = isUnavailable ? UNAVAILABLE : textOf(exit)
  const steps = [{ did: `${longest.did}, while the backend does not respond`, got }]
  return verdictOn(`${port.name}.fails-typed`, UNAVAILABLE, got, {
    shapes: [`${port.name} ${longest.kind}`],
    steps
  })
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

/** Returns the state after a result, or the first clause that the result violates; adds the others to `decided`. */
const outcomeOf = <State>(seen: Seen<State>, before: State, decided: Array<ClauseSlug> = []) => {
  const broken: Array<Pick<Finding, "clause" | "expected">> = []
  const after = seen.judge(before, (clause, holds, expected) => {
    if (broken.length > 0) return
    decided.push(clause)
    if (!holds) broken.push({ clause, expected: expected() })
  })
  return { after, broken: broken[0] }
}

/** Yields, and then runs as many steps as the number of the client, so that an interleaving splits calls differently. */
const pause = (client: number): Effect.Effect<void> => {
  const steps = Array.from({ length: client }, () => Effect.void)
  return Effect.andThen(Effect.yieldNow, Effect.all(steps, { discard: true }))
}
