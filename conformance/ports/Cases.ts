/** Draws the cases of a port, and makes them smaller. */
import * as fc from "fast-check"
import { orNull, record, weighted } from "./Arbitraries.ts"
import type { Call, Case, ClientCall, Draws } from "./Port.ts"

/** The kinds of random cases, with their number at effort 1. */
const runs = { sequences: 60, long: 6, clients: 40, interruptions: 30 } as const

/** For each kind of call: how many clients make it at the same time, in how many cases, and whether step by step. */
const meetings = [
  { count: 6, cases: 16, isStepwise: true },
  { count: 60, cases: 1, isStepwise: false }
] as const

/** Number of draws for an outage, of which the longest is used, because a call without arguments may need no backend. */
const OUTAGE_DRAWS = 10

const seed = fc.noShrink(fc.integer())
const order = fc.option(seed, { freq: 2, nil: null })
const turns = fc.oneof(fc.nat(8), fc.nat(40))

export const make = (kinds: { readonly [name: string]: Draws }) => {
  const all = Object.entries(kinds).map(([name, { args, isLocal = false, weights }]) => ({
    isLocal,
    weights,
    call: record({ do: fc.constant(name), ...args }) as fc.Arbitrary<Call>
  }))
  const calls = (how: keyof Draws["weights"], factors: ReadonlyArray<number> = []) =>
    weighted(
      ...all.map(({ call, weights }, index) => [(weights[how] ?? 0) * (factors[index] ?? 1), call] as const)
    )
  /** By how much a sequence prefers each kind of call. */
  const preferences = fc.array(fc.constantFrom(1, 1, 10), { minLength: all.length, maxLength: all.length })
  const sequences = (size: "medium" | "max") =>
    record({
      calls: preferences.chain((factors) => fc.array(calls("alone", factors), { maxLength: 500, size }))
    })
  const begun = fc.oneof(fc.constant<Array<Call>>([]), fc.array(calls("alone"), { maxLength: 3 }))
  /** Clients that repeat a few calls, so that many of their calls meet. */
  const clients = (call: fc.Arbitrary<ClientCall>, minLength: number) =>
    record({
      calls: begun,
      clients: fc.array(call, { minLength: 1, maxLength: 3 }).chain((few) =>
        fc.array(fc.array(fc.constantFrom(...few), { minLength: 1, maxLength: 4 }), {
          minLength,
          maxLength: 4
        })
      ),
      order
    })
  const whole = record({ call: calls("together"), turns: fc.constant(null) })
  const interrupted = record({ call: calls("interrupted"), turns })
  /** Clients that all make the same call, half of them on an empty store. */
  const same = (call: fc.Arbitrary<Call>, { count, isStepwise }: (typeof meetings)[number]) =>
    record({
      calls: begun,
      clients: call.map((each) => Array.from({ length: count }, () => [{ call: each, turns: null }])),
      order: isStepwise ? seed : fc.constant(null)
    })
  const drawn: { readonly [kind in keyof typeof runs]: fc.Arbitrary<Partial<Case>> } = {
    sequences: sequences("medium"),
    long: sequences("max"),
    clients: clients(whole, 2),
    interruptions: clients(fc.oneof(interrupted, whole), 1)
  }

  const anyCall = fc.oneof(...all.map(({ call }) => call))
  /** Any case. It recognizes and shrinks cases, and is not generated. */
  const any: fc.Arbitrary<Case> = record({
    calls: fc.array(anyCall, { maxLength: 500 }),
    clients: fc.array(fc.array(record({ call: anyCall, turns: orNull(turns) })), { maxLength: 200 }),
    order: orNull(seed),
    isOutage: fc.boolean()
  })

  return {
    /** Draws cases, each kind in turn. */
    random: function* (from: number, effort: number): Generator<Partial<Case>> {
      const sample = (arbitrary: fc.Arbitrary<Partial<Case>>, count: number) =>
        fc.sample(arbitrary, { seed: from, numRuns: Math.ceil(count * effort) })
      for (const { call, weights } of all)
        for (const meeting of weights.together === undefined ? [] : meetings)
          yield* sample(same(call, meeting), meeting.cases)
      for (const [kind, count] of Object.entries(runs)) yield* sample(drawn[kind as keyof typeof runs], count)
    },
    /** Draws one call of each kind, to be made while the backend does not respond. */
    outage: (from: number): ReadonlyArray<Partial<Case>> =>
      all
        .filter(({ isLocal }) => !isLocal)
        .map(({ call }) => fc.sample(call, { seed: from, numRuns: OUTAGE_DRAWS }))
        .map((drawn) => drawn.reduce((a, b) => (fc.stringify(b).length > fc.stringify(a).length ? b : a)))
        .map((call) => ({ calls: [call], isOutage: true })),
    is: (value: unknown): value is Case => any.canShrinkWithoutContext(value as Case),
    /** Generates smaller cases: first without some of the calls, then with simpler ones. */
    smaller: function* (given: Case): Generator<Case> {
      for (const calls of without(given.calls)) yield { ...given, calls }
      for (const clients of without(given.clients)) yield { ...given, clients }
      for (const [index, client] of given.clients.entries())
        for (const fewer of without(client)) yield { ...given, clients: given.clients.with(index, fewer) }
      for (const { value } of any.shrink(given, undefined)) yield value
    }
  }
}

/** Generates the lists without one part: first without a half, at last without one element. */
function* without<A>(all: ReadonlyArray<A>): Generator<ReadonlyArray<A>> {
  for (let size = Math.ceil(all.length / 2); size > 0; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < all.length; from += size) yield all.toSpliced(from, size)
  }
}
