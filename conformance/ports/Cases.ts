/** Generates the cases of a port, and makes them smaller. */
import * as fc from "fast-check"
import type { Calls, Case } from "./Port.ts"

/** The kinds of random cases, with their number at effort 1. */
export const runs = { sequences: 60, clients: 20, interleaved: 10, interruptions: 8 } as const

const seed = fc.noShrink(fc.integer())
const turns = fc.oneof(fc.nat(8), fc.nat(40))

export const make = <Call>({ any: anyCall, call, clientCall, interruptible }: Calls<Call>) => {
  const clients = (
    made: fc.Arbitrary<Call>,
    after: fc.Arbitrary<number | null>,
    { calls, count }: { readonly calls: number; readonly count: readonly [min: number, max: number] }
  ) =>
    fc.array(
      fc.array(fc.record({ call: made, turns: after }, { noNullPrototype: true }), {
        minLength: 1,
        maxLength: calls
      }),
      { minLength: count[0], maxLength: count[1] }
    )
  const sequence = fc.array(call, { maxLength: 500, size: "medium" })
  const few = clients(clientCall, fc.constant(null), { calls: 4, count: [2, 4] })
  const begun = fc.array(call, { maxLength: 3 })
  const random: { readonly [kind in keyof typeof runs]: fc.Arbitrary<Partial<Case<Call>>> } = {
    sequences: sequence.map((calls) => ({ calls })),
    clients: fc.record({ calls: begun, clients: few }),
    interleaved: fc.record({ calls: begun, clients: few, order: seed }),
    interruptions: fc.record({
      clients: clients(interruptible, turns, { calls: 4, count: [1, 2] }),
      order: seed
    })
  }

  /** Any case. It recognizes and shrinks cases, and is not generated. */
  const any: fc.Arbitrary<Case<Call>> = fc.record(
    {
      calls: fc.array(anyCall, { maxLength: 500 }),
      clients: clients(anyCall, fc.option(turns), {
        calls: 40,
        count: [0, 200]
      }),
      order: fc.option(seed),
      later: fc.array(anyCall, { maxLength: 200 }),
      isOutage: fc.boolean()
    },
    { noNullPrototype: true }
  )

  return {
    /** Generates random cases, each kind in turn. */
    random: function* (from: number, effort: number): Generator<Partial<Case<Call>>> {
      for (const [kind, count] of Object.entries(runs)) {
        yield* fc.sample(random[kind as keyof typeof runs], {
          seed: from,
          numRuns: Math.ceil(count * effort)
        })
      }
    },
    is: (value: unknown): value is Case<Call> => any.canShrinkWithoutContext(value as Case<Call>),
    /** Generates smaller cases: first without some of the calls, then with simpler ones. */
    smaller: function* (given: Case<Call>): Generator<Case<Call>> {
      for (const calls of without(given.calls)) yield { ...given, calls }
      for (const later of without(given.later)) yield { ...given, later }
      for (const fewer of without(given.clients)) yield { ...given, clients: fewer }
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
