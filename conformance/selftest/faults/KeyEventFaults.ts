/** Defines faulty stores of API keys, each of which records or returns events or the last use of keys wrongly. */
import * as Effect from "effect/Effect"
import { type Fault, fault } from "../Fault.ts"
import { changingEvents, replacingMarkSeen } from "../spoilers/KeyStores.ts"

export const faults: ReadonlyArray<Fault> = [
  fault("keys-store.events-of-all", "Returns the events of all keys for each key.")
    .breaks("keys-store.events")
    .by(changingEvents((all) => all)),
  fault("keys-store.mark-seen-lowers", "Replaces the day of the last use with an earlier day.")
    .breaks("keys-store.mark-seen")
    .by(
      replacingMarkSeen((ids, day, real) =>
        Effect.forEach(ids, (id) => real.update(id, (key) => [undefined, { ...key, lastSeenDay: day }]), {
          discard: true
        })
      )
    )
]
