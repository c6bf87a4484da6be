/** Draws the cases of a port. */
import * as fc from "fast-check"
import { weighted } from "./Draws.ts"
import type { Case, Drawn, Port } from "./Port.ts"

/** Number of draws for an outage, of which one is used, because a call without arguments may need no backend. */
const OUTAGE_DRAWS = 10

const seed = fc.noShrink(fc.integer())
/** After how many turns of its fiber a call is interrupted. */
const turns = fc.oneof(fc.nat(8), fc.nat(40))
const never = fc.constant(null)

const nothing = { calls: [], clients: [], order: null, isOutage: false } as const

/** Creates the groups of cases, each with the number of its cases at effort 1; those that are not random have one. */
export const groups = <Session, State>({
  kinds,
  scenarios
}: Pick<Port<never, object, Session, State>, "kinds" | "scenarios">) => {
  type OneCall = Drawn<Session, State>
  const all = Object.entries(kinds).map(([kind, { draw, together, weight }]) => ({
    call: draw.map((begin): OneCall => ({ kind, begin })),
    isConcurrent: together !== undefined,
    weight
  }))
  const concurrent = all.filter(({ isConcurrent }) => isConcurrent)
  const oneOf = (some: typeof all) => weighted(...some.map(({ call, weight }) => [weight, call] as const))
  const group = (count: number, parts: fc.Arbitrary<Partial<Case<Session, State>>>, isRandom = true) => ({
    count,
    cases: parts.map((given): Case<Session, State> => ({ ...nothing, ...given })),
    isRandom
  })
  const sequences = (size: "medium" | "max") =>
    fc.record({ calls: fc.array(oneOf(all), { maxLength: 500, size }) })
  // Most calls need something that a call of the first kind stores.
  const begun = fc.oneof(
    fc.constant([]),
    fc.array(fc.oneof(oneOf(all.slice(0, 1)), oneOf(all)), { maxLength: 6 })
  )
  /** Clients that repeat a few calls, so that many of their calls meet. */
  const clients = (
    call: fc.Arbitrary<OneCall>,
    turns: fc.Arbitrary<number | null>,
    order: fc.Arbitrary<number | null> = fc.option(seed, { freq: 2 })
  ) =>
    fc
      .record({
        calls: begun,
        few: fc.array(fc.record({ call, turns }), { minLength: 1, maxLength: 3 }),
        picks: fc.array(fc.array(fc.nat(2), { minLength: 1, maxLength: 4 }), { minLength: 2, maxLength: 6 }),
        order
      })
      .map(({ calls, few, order, picks }) => {
        const clients = picks.map((own) => own.flatMap((pick) => few.slice(pick % few.length).slice(0, 1)))
        return { calls, clients, order }
      })
  /** Many clients that make the same call at once. */
  const crowds = (call: fc.Arbitrary<OneCall>) =>
    fc.record({
      calls: begun,
      clients: call.map((call) => Array.from({ length: 60 }, () => [{ call, turns: null }]))
    })
  const outages = (call: fc.Arbitrary<OneCall>) =>
    fc.array(call, { minLength: OUTAGE_DRAWS, maxLength: OUTAGE_DRAWS }).map((calls) => ({
      calls,
      isOutage: true
    }))
  return [
    ...all.map(({ call }) => group(1, outages(call), false)),
    ...scenarios.map((calls) => group(1, fc.record({ calls }), false)),
    ...concurrent.flatMap(({ call }) => [group(16, clients(call, never, seed)), group(1, crowds(call))]),
    group(60, sequences("medium")),
    group(6, sequences("max")),
    group(40, clients(oneOf(concurrent), never)),
    group(30, clients(oneOf(concurrent), fc.option(turns)))
  ]
}
