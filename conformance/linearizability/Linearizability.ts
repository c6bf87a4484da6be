/**
 * Checks whether a concurrent history can be explained by a sequential order of its calls, in which each call
 * takes effect at one instant between its invocation and its return. The search is that of Wing and Gong
 * ("Testing and verifying concurrent objects", Journal of Parallel and Distributed Computing 17, 1993) with
 * the cache of visited states that Lowe added ("Testing for linearizability", Concurrency and Computation:
 * Practice and Experience 29(4), 2017).
 */

/**
 * One call in a history. Its times may be in any unit, from one monotonic clock that all clients share; even calls of one
 * client are ordered only by them.
 */
export interface Operation<Input, Output> {
  readonly input: Input
  readonly invokedAt: number
  /**
   * `undefined` for a call with an unknown outcome (a timeout): it may have taken effect at any time after
   * its invocation, or never. An output is never `undefined`: use `null` or an Option for "nothing".
   */
  readonly completed: { readonly at: number; readonly output: Output } | undefined
}

/** The sequential behavior of an object. A state is never `undefined`. */
export interface Model<State, Input, Output> {
  readonly initial: State
  /**
   * Returns the next state, or `undefined` if the object could not have returned this output. An `output` of
   * `undefined` is unknown: return the state after the call took effect. Must be pure. If a call may lead to
   * several states, let `State` be the set of possible states.
   */
  readonly step: (state: State, input: Input, output: Output | undefined) => State | undefined
  /** Returns a key of a state: two states are equal if and only if their keys are. */
  readonly key: (state: State) => string
}

/**
 * The verdict on a history.
 * - `Linearizable`: `order` explains the history. It contains all completed calls, and those calls of unknown
 *   outcome that take effect in this explanation.
 * - `Violation`: no order explains the history. `longest` is the possible prefix of an order with the most
 *   completed calls; `stuck` are the calls that may come next by their times, but that the model rejects.
 * - `Unknown`: the budget was spent after `explored` states. **This is never a pass**: report it as
 *   inconclusive.
 */
export type Verdict<Input, Output> =
  | { readonly _tag: "Linearizable"; readonly order: ReadonlyArray<Operation<Input, Output>> }
  | {
      readonly _tag: "Violation"
      readonly longest: ReadonlyArray<Operation<Input, Output>>
      readonly stuck: ReadonlyArray<Operation<Input, Output>>
    }
  | { readonly _tag: "Unknown"; readonly explored: number }

/** Limits the cost of a check. */
export interface Options {
  /** Maximum number of visited pairs (completed calls, state) before the verdict is `Unknown`; 250,000 by default. */
  readonly maxStates?: number
}

/**
 * Searches for an order of the calls that the model allows and that keeps their real-time order: a call that
 * returned before another was invoked comes first. Two calls are concurrent if one returns at the instant at
 * which the other is invoked; if the clock is too coarse for that, number the events instead. The order of
 * `history` does not matter. `Unknown` is never a pass.
 *
 * @throws TypeError if an output is `undefined`, RangeError if a call returns before it was invoked or a time
 *   is not a number: then the recorded history is wrong, not the object.
 *
 * @example
 * ```ts
 * const register: Model<number, { readonly write?: number }, number> = {
 *   initial: 0,
 *   step: (state, { write }, output) =>
 *     write !== undefined ? write : output === undefined || output === state ? state : undefined,
 *   key: String
 * }
 * check(register, [
 *   { input: { write: 1 }, invokedAt: 0, completed: { at: 1, output: 1 } },
 *   { input: {}, invokedAt: 2, completed: { at: 3, output: 0 } } // a stale read
 * ]) // _tag: "Violation"
 * ```
 */
export const check = <State, Input, Output>(
  model: Model<State, Input, Output>,
  history: ReadonlyArray<Operation<Input, Output>>,
  options: Options = {}
): Verdict<Input, Output> => {
  for (const operation of history) assertWellFormed(operation)
  const maxStates = options.maxStates ?? 250_000
  const head = eventsOf(history)
  const visited = new Set<string>()
  const path: Array<Step<State, Input, Output>> = []
  let longest: ReadonlyArray<Step<State, Input, Output>> = []
  let longestState = model.initial
  let longestCompleted = 0
  let state = model.initial
  let done = 0n
  let completed = 0
  const completedTotal = history.filter((operation) => operation.completed !== undefined).length

  let event = head.next
  while (completed < completedTotal) {
    if (event?._tag === "Call") {
      const { operation } = event
      const next = model.step(state, operation.input, operation.completed?.output)
      if (next !== undefined && !isIdle(model, operation, state, next)) {
        const nextDone = done | event.bit
        const visit = `${nextDone.toString(32)} ${model.key(next)}`
        if (!visited.has(visit)) {
          if (visited.size >= maxStates) return { _tag: "Unknown", explored: visited.size }
          visited.add(visit)
          path.push({ call: event, state })
          state = next
          done = nextDone
          if (operation.completed !== undefined) completed++
          lift(event)
          if (
            completed > longestCompleted ||
            (completed === longestCompleted && path.length > longest.length)
          ) {
            longest = path.slice()
            longestState = next
            longestCompleted = completed
          }
          event = head.next
          continue
        }
      }
      event = event.next
    } else {
      // The list always contains a return. Its call has no place in the order yet, so no later call may come next.
      const last = path.pop()
      if (last === undefined) return violation(model, history, longest, longestState)
      const { call } = last
      state = last.state
      done ^= call.bit
      if (call.operation.completed !== undefined) completed--
      unlift(call)
      event = call.next
    }
  }
  return { _tag: "Linearizable", order: path.map((step) => step.call.operation) }
}

const assertWellFormed = ({ completed, invokedAt }: Operation<unknown, unknown>): void => {
  if (Number.isNaN(invokedAt)) throw new RangeError("The time of an invocation is not a number")
  if (completed === undefined) return
  if (completed.output === undefined) {
    throw new TypeError("The output of a completed call is undefined, which would mean that it is unknown")
  }
  if (!(completed.at >= invokedAt)) {
    throw new RangeError(`A call invoked at ${invokedAt} cannot return at ${completed.at}`)
  }
}

/**
 * Whether the call has an unknown outcome and does not change this state. Such a call need not take effect, so
 * trying it would only double the search.
 */
const isIdle = <State, Input, Output>(
  model: Model<State, Input, Output>,
  operation: Operation<Input, Output>,
  before: State,
  after: State
): boolean => operation.completed === undefined && model.key(before) === model.key(after)

/** A step of the search that can be undone: the call that took effect, and the state before it. */
interface Step<State, Input, Output> {
  readonly call: Call<Input, Output>
  readonly state: State
}

/** A link in the list of events, which is sorted by time. A call is removed and restored together with its return. */
interface Link<Input, Output> {
  previous: Link<Input, Output> | undefined
  next: Event<Input, Output> | undefined
}

interface Call<Input, Output> extends Link<Input, Output> {
  readonly _tag: "Call"
  readonly operation: Operation<Input, Output>
  /** The bit of the call in the set of calls that took effect. */
  readonly bit: bigint
  /** Absent for a call of unknown outcome, which may never have happened. */
  readonly return: Return<Input, Output> | undefined
}

interface Return<Input, Output> extends Link<Input, Output> {
  readonly _tag: "Return"
}

type Event<Input, Output> = Call<Input, Output> | Return<Input, Output>

/** Links the events by time, with invocations before returns at the same instant, and returns the head of the list. */
const eventsOf = <Input, Output>(history: ReadonlyArray<Operation<Input, Output>>): Link<Input, Output> => {
  const timed: Array<{ readonly at: number; readonly event: Event<Input, Output> }> = []
  const unlinked = { previous: undefined, next: undefined }
  history.forEach((operation, index) => {
    const { completed, invokedAt } = operation
    const returnEvent: Return<Input, Output> | undefined =
      completed === undefined ? undefined : { _tag: "Return", ...unlinked }
    const bit = 1n << BigInt(index)
    timed.push({ at: invokedAt, event: { _tag: "Call", operation, bit, return: returnEvent, ...unlinked } })
    if (completed !== undefined && returnEvent !== undefined)
      timed.push({ at: completed.at, event: returnEvent })
  })
  const rank = (event: Event<Input, Output>) => (event._tag === "Call" ? 0 : 1)
  timed.sort((a, b) => ascending(a.at, b.at) || rank(a.event) - rank(b.event))
  const head: Link<Input, Output> = { ...unlinked }
  let last = head
  for (const { event } of timed) {
    event.previous = last
    last.next = event
    last = event
  }
  return head
}

/** Compares without subtraction, which would give NaN for two infinite times. */
const ascending = (a: number, b: number): number => (a < b ? -1 : a > b ? 1 : 0)

const unlink = <Input, Output>(event: Event<Input, Output>): void => {
  if (event.previous !== undefined) event.previous.next = event.next
  if (event.next !== undefined) event.next.previous = event.previous
}

const relink = <Input, Output>(event: Event<Input, Output>): void => {
  if (event.next !== undefined) event.next.previous = event
  if (event.previous !== undefined) event.previous.next = event
}

const lift = <Input, Output>(call: Call<Input, Output>): void => {
  unlink(call)
  if (call.return !== undefined) unlink(call.return)
}

/** Restores a call and its return, in the opposite order of `lift`, so that the links are correct. */
const unlift = <Input, Output>(call: Call<Input, Output>): void => {
  if (call.return !== undefined) relink(call.return)
  relink(call)
}

/**
 * Returns a violation. The stuck calls are those that remain after the longest order and that no other remaining call
 * precedes. The model rejects them all, except for calls of unknown outcome that change nothing, which are omitted.
 */
const violation = <State, Input, Output>(
  model: Model<State, Input, Output>,
  history: ReadonlyArray<Operation<Input, Output>>,
  longest: ReadonlyArray<Step<State, Input, Output>>,
  state: State
): Verdict<Input, Output> => {
  const done = longest.reduce((bits, { call }) => bits | call.bit, 0n)
  const remaining = history.filter((_, index) => (done & (1n << BigInt(index))) === 0n)
  const deadline = firstReturn(remaining)
  return {
    _tag: "Violation",
    longest: longest.map(({ call }) => call.operation),
    stuck: remaining.filter(
      ({ completed, input, invokedAt }) =>
        invokedAt <= deadline && model.step(state, input, completed?.output) === undefined
    )
  }
}

const firstReturn = (operations: ReadonlyArray<Operation<unknown, unknown>>): number =>
  operations.reduce(
    (first, { completed }) => Math.min(first, completed?.at ?? first),
    Number.POSITIVE_INFINITY
  )
