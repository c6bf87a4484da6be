/** Draws the cases of a port. */
import * as fc from "fast-check"
import { weighted } from "./Draws.ts"
import type { Case, ClientCall, Drawn, Kind, Port } from "./Port.ts"

/** Number of draws for an outage, of which one is used, because a call without arguments may need no backend. */
const OUTAGE_DRAWS = 10

const seed = fc.noShrink(fc.integer())
const turns = fc.oneof(fc.nat(8), fc.nat(40))

const nothing = { calls: [], clients: [], order: null, isOutage: false } as const

/** Creates the groups of cases, each with the number of its cases at effort 1; those that are not random have one. */
export const groups = <Session, State>({
  kinds,
  scenarios = []
}: Pick<Port<never, object, Session, State>, "kinds" | "scenarios">) => {
  type OneCall = Drawn<Session, State>
  type OfClient = ClientCall<Session, State>
  const all = Object.entries(kinds).map(([kind, { draw, weights }]) => ({
    call: draw.map((begin): OneCall => ({ kind, begin })),
    weights
  }))
  const calls = (how: keyof Kind<Session, State>["weights"]) =>
    weighted(...all.map(({ call, weights }) => [weights[how] ?? 0, call] as const))
  const group = (count: number, parts: fc.Arbitrary<Partial<Case<Session, State>>>) => ({
    count,
    cases: parts.map((given): Case<Session, State> => ({ ...nothing, ...given })),
    isRandom: true
  })
  const begun = fc.oneof(fc.constant([]), fc.array(calls("alone"), { maxLength: 3 }))
  const whole = (call: fc.Arbitrary<OneCall>): fc.Arbitrary<OfClient> =>
    call.map((call) => ({ call, turns: null }))
  const sequences = (size: "medium" | "max") =>
    fc.record({ calls: fc.array(calls("alone"), { maxLength: 500, size }) })
  /** Clients that repeat a few calls, so that many of their calls meet. */
  const clients = (call: fc.Arbitrary<OfClient>, minLength: number) =>
    fc
      .record({
        calls: begun,
        few: fc.array(call, { minLength: 1, maxLength: 3 }),
        picks: fc.array(fc.array(fc.nat(2), { minLength: 1, maxLength: 4 }), { minLength, maxLength: 4 }),
        order: fc.option(seed, { freq: 2 })
      })
      .map(({ calls, few, order, picks }) => {
        const clients = picks.map((own) => own.flatMap((pick) => few.slice(pick % few.length).slice(0, 1)))
        return { calls, clients, order }
      })
  /** Clients that all make the same call. */
  const same = (call: fc.Arbitrary<OneCall>, count: number) =>
    whole(call).map((each) => Array.from({ length: count }, () => [each]))
  const together = all.filter(({ weights }) => weights.together !== undefined)

  const outages = all.map(({ call }) =>
    fc.array(call, { minLength: OUTAGE_DRAWS, maxLength: OUTAGE_DRAWS }).map((calls) => ({
      calls,
      isOutage: true
    }))
  )
  const fixed = [...outages, ...scenarios.map((calls) => fc.constant({ calls }))]
  return [
    ...fixed.map((cases) => ({ ...group(1, cases), isRandom: false })),
    ...together.flatMap(({ call }) => [
      group(16, fc.record({ calls: begun, clients: same(call, 6), order: seed })),
      group(1, fc.record({ calls: begun, clients: same(call, 60) }))
    ]),
    group(60, sequences("medium")),
    group(6, sequences("max")),
    group(40, clients(whole(calls("together")), 2)),
    group(
      30,
      clients(fc.oneof(fc.record({ call: calls("interrupted"), turns }), whole(calls("together"))), 1)
    )
  ]
}
