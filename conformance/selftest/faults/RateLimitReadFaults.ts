/** Defines stores of rate limits with a faulty `read`, each wrong in one way. */
import * as Effect from "effect/Effect"
import { type Fault, fault } from "../Fault.ts"
import * as AtPort from "../spoilers/AtPort.ts"

export const faults: ReadonlyArray<Fault> = [
  fault("limits-store.read-more", "Returns the state of a key that was not requested as well.")
    .breaks("limits-store.read")
    .by(
      AtPort.limits((real) => ({
        ...real,
        read: (keys, now) =>
          real.read?.([...keys, "key:1"], now) ?? Effect.succeed({ at: now, states: new Map() })
      }))
    )
]
