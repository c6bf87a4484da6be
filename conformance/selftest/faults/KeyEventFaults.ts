/** Defines faulty stores of API keys, each of which records or returns events or the last use of keys wrongly. */
import * as Effect from "effect/Effect"
import { type Fault, fault } from "../Fault.ts"
import * as AtPort from "../spoilers/AtPort.ts"
import { changingEvents, replacingMarkSeen } from "../spoilers/KeyStores.ts"

export const faults: ReadonlyArray<Fault> = [
  fault("keys-store.events-of-all", "Returns the events of all keys for each key.")
    .breaks("keys-store.events")
    .by(changingEvents((all) => all)),
  fault("keys-store.events-of-later-keys", "Records the event of an `insertFirst` that adds no key.")
    .breaks("keys-store.events")
    .by(
      AtPort.keys((real) => ({
        ...real,
        insertFirst: (key, event) =>
          Effect.gen(function* () {
            const isFirst = yield* real.insertFirst(key, event)
            const [first] = yield* real.list
            if (!isFirst && first !== undefined) {
              yield* real.update(first.id, (same) => [undefined, same, event])
            }
            return isFirst
          })
      }))
    ),
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
