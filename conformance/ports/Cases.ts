/** Draws the cases of a port. */
import * as fc from "fast-check"
import { weighted } from "./Draws.ts"
import type { Case, Drawn, Port } from "./Port.ts"

const seed = fc.noShrink(fc.integer())
/** After how many turns of its fiber a call is interrupted. */
const turns = fc.oneof(fc.nat(8), fc.nat(40))

/** Cases that are drawn alike. */
export interface Group<Session, State> {
  readonly cases: fc.Arbitrary<Case<Session, State>>
  /** Number of the cases at effort 1; absent for one case at any effort. */
  readonly count?: number
  /** Whether calls are interrupted. */
  readonly interrupts?: boolean
}

/** Creates the groups of cases of a port. */
export const groups = <Session, State>({
  kinds,
  scenarios
}: Pick<Port<never, object, Session, State>, "kinds" | "scenarios">): ReadonlyArray<
  Group<Session, State>
> => {
  type Call = Drawn<Session, State>
  const all = Object.entries(kinds).map(([kind, { draw, together, weight }]) => ({
    call: draw.map((begin): Call => ({ kind, begin })),
    isConcurrent: together !== undefined,
    weight
  }))
  const concurrent = all.filter(({ isConcurrent }) => isConcurrent)
  const oneOf = (some: typeof all) => weighted(...some.map(({ call, weight }) => [weight, call] as const))
  const inSequence = (calls: fc.Arbitrary<ReadonlyArray<Call>>) =>
    calls.map((calls): Case<Session, State> => ({ calls, clients: [], order: null }))
  const sequences = (size: "medium" | "max") => inSequence(fc.array(oneOf(all), { maxLength: 500, size }))
  // Most calls need something that a call of the first kind stores.
  const calls = fc.oneof(
    fc.constant([]),
    fc.array(fc.oneof(oneOf(all.slice(0, 1)), oneOf(all)), { maxLength: 6 })
  )
  /** Clients that repeat a few calls, so that many of their calls meet. */
  const clients = (
    call: fc.Arbitrary<Call>,
    order: fc.Arbitrary<number | null> = fc.option(seed, { freq: 2 })
  ) =>
    fc
      .record({
        calls,
        few: fc.array(call, { minLength: 1, maxLength: 3 }),
        picks: fc.array(fc.array(fc.nat(2), { minLength: 1, maxLength: 4 }), { minLength: 2, maxLength: 6 }),
        order
      })
      .map(({ few, picks, ...given }) => ({
        ...given,
        clients: picks.map((own) => own.flatMap((pick) => few.slice(pick % few.length).slice(0, 1)))
      }))
  /** Many clients that make the same call at once. */
  const crowds = (call: fc.Arbitrary<Call>) =>
    fc.record({
      calls,
      clients: call.map((call) => Array.from({ length: 60 }, () => [call])),
      order: fc.constant(null)
    })
  const interrupted = fc
    .tuple(oneOf(concurrent), fc.option(turns, { nil: undefined }))
    .map(([call, turns]) => ({ ...call, turns }))
  return [
    ...scenarios.map((calls) => ({ cases: inSequence(calls) })),
    ...concurrent.flatMap(({ call }) => [
      { cases: clients(call, seed), count: 16 },
      { cases: crowds(call), count: 1 }
    ]),
    { cases: sequences("medium"), count: 60 },
    { cases: sequences("max"), count: 6 },
    { cases: clients(oneOf(concurrent)), count: 40 },
    { cases: clients(interrupted), count: 30, interrupts: true }
  ]
}
