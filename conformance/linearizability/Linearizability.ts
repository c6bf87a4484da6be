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
 * - `Linearizable`: an order of all completed calls, and of some calls of unknown outcome, explains the history.
 * - `Violation`: no order explains the history. `stuck` are the calls that may come next by their times after the
 *   possible prefix of an order with the most completed calls, but that the model rejects.
 * - `Unknown`: the budget was spent after `explored` states. **This is never a pass**: report it as
 *   inconclusive.
 */
export type Verdict<Input, Output> =
  | { readonly _tag: "Linearizable" }
  | { readonly _tag: "Violation"; readonly stuck: ReadonlyArray<Operation<Input, Output>> }
  | { readonly _tag: "Unknown"; readonly explored: number }

/** A call, and its bit in sets of calls. */
type Bit<Input, Output> = readonly [call: Operation<Input, Output>, bit: bigint]

/** What follows from the beginning of an order. */
interface Position<State, Input, Output> {
  readonly state: State
  /** The calls without a place in the order, by the time of their invocation. */
  readonly open: ReadonlyArray<Bit<Input, Output>>
  /** The set of all other calls. */
  readonly placed: bigint
  /** Number of open calls that are completed. */
  readonly left: number
}

/**
 * Searches for an order of the calls that the model allows and that keeps their real-time order: a call that
 * returned before another was invoked comes first. Two calls are concurrent if one returns at the instant at
 * which the other is invoked; if the clock is too coarse for that, number the events instead. The order of
 * `history` does not matter. The verdict is `Unknown` if more than `maxStates` pairs of placed calls and state would be
 * visited.
 */
export const check = <State, Input, Output>(
  model: Model<State, Input, Output>,
  history: ReadonlyArray<Operation<Input, Output>>,
  maxStates: number
): Verdict<Input, Output> => {
  const root: Position<State, Input, Output> = {
    state: model.initial,
    open: history
      .toSorted((a, b) => a.invokedAt - b.invokedAt)
      .map((call, index) => [call, 1n << BigInt(index)]),
    placed: 0n,
    left: history.filter(({ completed }) => completed !== undefined).length
  }
  const trialsIn = (from: typeof root) => nextOf(from.open).map((call) => [from, call] as const)
  const visited = new Set<string>()
  let furthest = root
  // The last trial comes first.
  const trials = trialsIn(root)
  while (furthest.left > 0) {
    const [from, next] = trials.pop() ?? []
    if (from === undefined || next === undefined) {
      const stuck = nextOf(furthest.open).map(([call]) => call)
      const isRejected = ({ completed, input }: Operation<Input, Output>): boolean =>
        model.step(furthest.state, input, completed?.output) === undefined
      return { _tag: "Violation", stuck: stuck.filter(isRejected) }
    }
    const [{ completed, input }, bit] = next
    const state = model.step(from.state, input, completed?.output)
    if (state === undefined) continue
    const key = model.key(state)
    // A call of unknown outcome that changes nothing need not take effect; trying it would only double the search.
    if (completed === undefined && key === model.key(from.state)) continue
    const placed = from.placed | bit
    const visit = `${placed.toString(32)} ${key}`
    if (visited.has(visit)) continue
    if (visited.size >= maxStates) return { _tag: "Unknown", explored: visited.size }
    visited.add(visit)
    const open = from.open.filter((other) => other !== next)
    const position = { state, open, placed, left: completed === undefined ? from.left : from.left - 1 }
    if (position.left < furthest.left) furthest = position
    trials.push(...trialsIn(position))
  }
  return { _tag: "Linearizable" }
}

/** Returns the calls that were invoked before any open call returned, the latest first. */
const nextOf = <Input, Output>(
  open: ReadonlyArray<Bit<Input, Output>>
): ReadonlyArray<Bit<Input, Output>> => {
  const next: Array<Bit<Input, Output>> = []
  let firstReturn = Number.POSITIVE_INFINITY
  for (const each of open) {
    const [{ completed, invokedAt }] = each
    if (invokedAt > firstReturn) break
    firstReturn = Math.min(firstReturn, completed?.at ?? firstReturn)
    next.unshift(each)
  }
  return next
}
