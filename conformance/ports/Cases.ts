/** Draws the cases of a port, and makes them smaller. */
import * as fc from "fast-check"
import { weighted } from "./Draws.ts"
import type { Call, Case, ClientCall, Draws } from "./Port.ts"

/** Number of draws for an outage, of which the longest is used, because a call without arguments may need no backend. */
const OUTAGE_DRAWS = 10

const seed = fc.noShrink(fc.integer())
const turns = fc.oneof(fc.nat(8), fc.nat(40))

export const make = (kinds: { readonly [name: string]: Draws }) => {
  const all = Object.entries(kinds).map(([name, { args, weights }]) => ({
    call: fc.tuple(fc.constant(name), args),
    weights
  }))
  const calls = (how: keyof Draws["weights"], factors: ReadonlyArray<number> = []): fc.Arbitrary<Call> =>
    weighted(
      ...all.map(({ call, weights }, index) => [(weights[how] ?? 0) * (factors[index] ?? 1), call] as const)
    )
  /** By how much a sequence prefers each kind of call. */
  const preferences = fc.array(fc.constantFrom(1, 1, 10), { minLength: all.length, maxLength: all.length })
  const sequences = (size: "medium" | "max") =>
    fc.record({
      calls: preferences.chain((factors) => fc.array(calls("alone", factors), { maxLength: 500, size }))
    })
  const begun = fc.oneof(fc.constant([]), fc.array(calls("alone"), { maxLength: 3 }))
  const whole = (call: fc.Arbitrary<Call>) => fc.record({ call, turns: fc.constant(null) })
  /** Clients that repeat a few calls, so that many of their calls meet. */
  const clients = (call: fc.Arbitrary<ClientCall>, minLength: number) => {
    const few = fc.array(call, { minLength: 1, maxLength: 3 })
    const own = few.map((all) => fc.array(fc.constantFrom(...all), { minLength: 1, maxLength: 4 }))
    return fc.record({
      calls: begun,
      clients: own.chain((client) => fc.array(client, { minLength, maxLength: 4 })),
      order: fc.option(seed, { freq: 2 })
    })
  }
  /** Clients that all make the same call. */
  const same = (call: fc.Arbitrary<Call>, count: number, order: fc.Arbitrary<number | null>) =>
    fc.record({
      calls: begun,
      clients: whole(call).map((each) => Array.from({ length: count }, () => [each])),
      order
    })
  /** The random cases, and their number at effort 1. */
  const drawn: ReadonlyArray<readonly [fc.Arbitrary<Partial<Case>>, number]> = [
    ...all.flatMap(({ call, weights }) =>
      weights.together === undefined
        ? []
        : ([
            [same(call, 6, seed), 16],
            [same(call, 60, fc.constant(null)), 1]
          ] as const)
    ),
    [sequences("medium"), 60],
    [sequences("max"), 6],
    [clients(whole(calls("together")), 2), 40],
    [clients(fc.oneof(fc.record({ call: calls("interrupted"), turns }), whole(calls("together"))), 1), 30]
  ]
  const anyCall = fc.oneof(...all.map(({ call }) => call))
  /** Any case. It shrinks cases, and is not generated. */
  const any: fc.Arbitrary<Case> = fc.record({
    calls: fc.array(anyCall, { maxLength: 500 }),
    clients: fc.array(fc.array(fc.record({ call: anyCall, turns: fc.option(turns) })), { maxLength: 200 }),
    order: fc.option(seed),
    isOutage: fc.boolean()
  })

  return {
    /** Draws cases, each kind in turn. */
    random: function* (from: number, effort: number): Generator<Partial<Case>> {
      for (const [arbitrary, count] of drawn)
        yield* fc.sample(arbitrary, { seed: from, numRuns: Math.ceil(count * effort) })
    },
    /** Draws one call of each kind, to be made while the backend does not respond. */
    outage: (from: number): ReadonlyArray<Partial<Case>> =>
      all
        .map(({ call }) => fc.sample(call, { seed: from, numRuns: OUTAGE_DRAWS }))
        .map((drawn) => drawn.reduce((a, b) => (fc.stringify(b).length > fc.stringify(a).length ? b : a)))
        .map((call) => ({ calls: [call], isOutage: true })),
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
