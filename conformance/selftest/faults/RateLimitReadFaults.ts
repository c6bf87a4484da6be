/** Defines stores of rate limits with a faulty `read`, each wrong in one way. */
import * as Effect from "effect/Effect"
import { type Fault, fault } from "../Fault.ts"
import * as AtPort from "../spoilers/AtPort.ts"
import { blank } from "../spoilers/LimitStores.ts"

export const faults: ReadonlyArray<Fault> = [
  fault("limits-store.read-more", "Returns the state of a key that was not requested as well.")
    .breaks("limits-store.read")
    .by(
      AtPort.limits((real) => ({
        ...real,
        read: (keys, now) =>
          real.read?.([...keys, "key:1"], now) ?? Effect.succeed({ at: now, states: new Map() })
      }))
    ),
  fault("limits-store.read-blank", "Returns a blank state for a key without a state.")
    .breaks("limits-store.read")
    .by(
      AtPort.limits((real) => ({
        ...real,
        read: (keys, now) =>
          Effect.map(
            real.read?.(keys, now) ?? Effect.succeed({ at: now, states: new Map() }),
            ({ at, states }) => ({ at, states: new Map(keys.map((key) => [key, states.get(key) ?? blank])) })
          )
      }))
    )
]
