/**
 * Whether a concurrent history can be explained by some sequential order of its calls, each taking effect in
 * one instant between its invocation and its return. The search is that of Wing and Gong ("Testing and
 * verifying concurrent objects", Journal of Parallel and Distributed Computing 17, 1993) with the memory that
 * Lowe added ("Testing for linearizability", Concurrency and Computation: Practice and Experience 29(4),
 * 2017).
 */
import { stringify } from "fast-check"

/** One call in a history. Times are of any clock that all clients share and that never goes back. */
export interface Operation<Input, Output> {
  /** Who called: for the report only. One client's calls are ordered by their times, like all others. */
  readonly client: number
  readonly input: Input
  readonly invokedAt: number
  /**
   * `undefined` for a call with an unknown outcome (a timeout): it may have taken effect at any time after
   * it was invoked, or never. An output itself is never `undefined`: use `null` or an Option for "nothing".
   */
  readonly completed: { readonly at: number; readonly output: Output } | undefined
}

/** A sequential object. A state is never `undefined`. */
export interface Model<State, Input, Output> {
  readonly initial: State
  /**
   * The state that follows, or `undefined` when the object could not have given this output. An `output` of
   * `undefined` is unknown: return the state after the call took effect. Must be pure. If a call may lead to
   * several states, let `State` be the set of possible states.
   */
  readonly step: (state: State, input: Input, output: Output | undefined) => State | undefined
  /** Equal keys mean equal states, and equal states have equal keys. */
  readonly key: (state: State) => string
  /** How a call is printed; an `output` of `undefined` is unknown. */
  readonly show?: Show<Input, Output>
}

/** Prints a call and its output; `undefined` is an unknown output. */
export type Show<Input, Output> = (input: Input, output: Output | undefined) => string

/**
 * The verdict on a history.
 * - `Linearizable`: it is explained by `order`, which holds every completed call, and of those of unknown
 *   outcome the ones that take effect in this explanation.
 * - `Violation`: no order explains it. `longest` is the longest beginning of an order that is possible (the
 *   most completed calls); `stuck` are the calls that could be next by their times, and none of them can by
 *   the model.
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

/** How much a check may cost. */
export interface Options {
  /** Maximum number of visited pairs (completed calls, state) before the verdict is `Unknown`; 250 000 by default. */
  readonly maxStates?: number
}

/**
 * Searches for an order of the calls that the model allows and that keeps their real-time order: a call that
 * returned before another was invoked comes first. A return at the very instant of another invocation is
 * concurrent with it; a recorder whose clock is too coarse for that should number its events instead. The
 * order of `history` does not matter. `Unknown` is never a pass.
 *
 * @throws TypeError when an output is `undefined`, RangeError when a call returns before it was invoked or a
 *   time is not a number: the recorder is wrong then, not the object.
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
 *   { client: 0, input: { write: 1 }, invokedAt: 0, completed: { at: 1, output: 1 } },
 *   { client: 1, input: {}, invokedAt: 2, completed: { at: 3, output: 0 } } // a stale read
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
  const wanted = history.filter((operation) => operation.completed !== undefined).length

  let event = head.next
  while (completed < wanted) {
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
      // A return whose call has no place yet (the list always contains one): no later call may come first.
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
 * Whether the call has an unknown outcome and changes nothing here. Such a call need not take effect at all,
 * so that trying it would only double the search.
 */
const isIdle = <State, Input, Output>(
  model: Model<State, Input, Output>,
  operation: Operation<Input, Output>,
  before: State,
  after: State
): boolean => operation.completed === undefined && model.key(before) === model.key(after)

/** A decision that can be undone: the call that took effect and the state before it. */
interface Step<State, Input, Output> {
  readonly call: Call<Input, Output>
  readonly state: State
}

/** The list of events by time. A call is removed with its return, and restored at the same position. */
interface Link<Input, Output> {
  previous: Link<Input, Output> | undefined
  next: Event<Input, Output> | undefined
}

interface Call<Input, Output> extends Link<Input, Output> {
  readonly _tag: "Call"
  readonly operation: Operation<Input, Output>
  /** Place in the set of calls done. */
  readonly bit: bigint
  /** Absent for a call of unknown outcome, which may never have happened. */
  readonly return: Return<Input, Output> | undefined
}

interface Return<Input, Output> extends Link<Input, Output> {
  readonly _tag: "Return"
}

type Event<Input, Output> = Call<Input, Output> | Return<Input, Output>

/** Links the events by time, with invocations first at the same instant, and returns the head of the list. */
const eventsOf = <Input, Output>(history: ReadonlyArray<Operation<Input, Output>>): Link<Input, Output> => {
  const timed: Array<{ readonly at: number; readonly event: Event<Input, Output> }> = []
  const bare = { previous: undefined, next: undefined }
  history.forEach((operation, index) => {
    const { completed, invokedAt } = operation
    const back: Return<Input, Output> | undefined =
      completed === undefined ? undefined : { _tag: "Return", ...bare }
    const bit = 1n << BigInt(index)
    timed.push({ at: invokedAt, event: { _tag: "Call", operation, bit, return: back, ...bare } })
    if (completed !== undefined && back !== undefined) timed.push({ at: completed.at, event: back })
  })
  const rank = (event: Event<Input, Output>) => (event._tag === "Call" ? 0 : 1)
  timed.sort((a, b) => ascending(a.at, b.at) || rank(a.event) - rank(b.event))
  const head: Link<Input, Output> = { ...bare }
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

/** In the opposite order of `lift`, so that the links are restored. */
const unlift = <Input, Output>(call: Call<Input, Output>): void => {
  if (call.return !== undefined) relink(call.return)
  relink(call)
}

/**
 * The remaining calls after the longest order that no other remaining call precedes. The model rejects all of them, except
 * for calls of unknown outcome that change nothing, which are omitted.
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

/** Maximum number of columns of a timeline. */
const maxColumns = 64

/**
 * A plain-text timeline, one line per call in the order of invocation: its place in the order that was found
 * (or in the longest beginning of one), its client, its time, and what it said. `!` marks the calls at which
 * a `Violation` is stuck, and `^` the instant by which one of them should have taken effect; `-` marks calls
 * without a place. Bars keep the order of events, not their distance; `?` ends the bar of a call of unknown
 * outcome.
 *
 * `show` prints a call: give `model.show`, when there is one.
 */
export const render = <Input, Output>(
  history: ReadonlyArray<Operation<Input, Output>>,
  verdict: Verdict<Input, Output>,
  show: Show<Input, Output> = plainly
): string => {
  const found =
    verdict._tag === "Linearizable" ? verdict.order : verdict._tag === "Violation" ? verdict.longest : []
  const stuck = verdict._tag === "Violation" ? verdict.stuck : []
  const place = new Map(found.map((operation, index) => [operation, `${index + 1}.`]))
  for (const operation of stuck) place.set(operation, "!")

  const column = columnsOf(history)
  const rows = history
    .toSorted((a, b) => ascending(a.invokedAt, b.invokedAt))
    .map((operation) => {
      const { client, completed, input, invokedAt } = operation
      return {
        place: place.get(operation) ?? "-",
        client: `client ${client}`,
        time: `${invokedAt}..${completed?.at ?? ""}`,
        bar: bar(column(invokedAt), completed === undefined ? undefined : column(completed.at), column.width),
        text: show(input, completed?.output)
      }
    })
  const width = (cells: ReadonlyArray<string>) => Math.max(0, ...cells.map((cell) => cell.length))
  const places = width(rows.map((row) => row.place))
  const clients = width(rows.map((row) => row.client))
  const times = width(rows.map((row) => row.time))
  const lines = rows.map((row) =>
    [
      row.place.padStart(places),
      row.client.padEnd(clients),
      row.time.padEnd(times),
      row.bar.padEnd(column.width),
      row.text
    ].join("  ")
  )
  const deadline = firstReturn(stuck)
  if (stuck.length > 0) {
    const indent = places + clients + times + 6 + column(deadline)
    lines.push(`${" ".repeat(indent)}^ by ${deadline} a call marked ! must have taken effect`)
  }
  return [headline(history, verdict), ...lines].join("\n")
}

const headline = <Input, Output>(
  history: ReadonlyArray<Operation<Input, Output>>,
  verdict: Verdict<Input, Output>
): string => {
  switch (verdict._tag) {
    case "Linearizable":
      return `Linearizable: the numbers are an order that explains all ${history.length} calls.`
    case "Violation":
      return (
        `Not linearizable: the numbers explain ${verdict.longest.length} of ${history.length} calls ` +
        "at best; no call marked ! can be next."
      )
    case "Unknown":
      return `Unknown: no result within ${verdict.explored} states. This is not a pass.`
  }
}

/** The column of an instant that occurs in the history; every instant its own, as long as there is room. */
const columnsOf = (
  history: ReadonlyArray<Operation<unknown, unknown>>
): ((at: number) => number) & { readonly width: number } => {
  const instants = history.flatMap(({ completed, invokedAt }) =>
    completed === undefined ? [invokedAt] : [invokedAt, completed.at]
  )
  const rank = new Map([...new Set(instants)].sort(ascending).map((at, index) => [at, index]))
  const scale = Math.min(3, maxColumns / Math.max(1, rank.size))
  const column = (at: number) => Math.floor((rank.get(at) ?? 0) * scale)
  return Object.assign(column, { width: column(Math.max(...instants)) + 2 })
}

const bar = (from: number, to: number | undefined, width: number): string =>
  to === undefined
    ? `${" ".repeat(from)}[${"-".repeat(width - from - 2)}?`
    : `${" ".repeat(from)}${to === from ? "|" : `[${"-".repeat(to - from - 1)}]`}`

const plainly = (input: unknown, output: unknown): string =>
  `${stringify(input)} -> ${output === undefined ? "?" : stringify(output)}`
