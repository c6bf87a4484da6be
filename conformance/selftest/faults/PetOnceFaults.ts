/** Defines repositories with a faulty `insertOnce`, each wrong in one way. */
import * as Effect from "effect/Effect"
import * as Once from "../../../core/idempotency/Once.ts"
import { type Fault, fault } from "../Fault.ts"
import * as AtPort from "../spoilers/AtPort.ts"
import type { Pets } from "../spoilers/PetStores.ts"

/** Changes the fields that identify an insert. */
const changesOnce = (change: (once: Once.Once) => Partial<Once.Once>) =>
  AtPort.pets((real) => ({
    ...real,
    insertOnce: (pet, once) => real.insertOnce?.(pet, { ...once, ...change(once) }) ?? Effect.never
  }))

/** Replaces `insertOnce`. */
const replacesInsertOnce = (insertOnce: (real: Pets) => NonNullable<Pets["insertOnce"]>) =>
  AtPort.pets((real) => ({ ...real, insertOnce: insertOnce(real) }))

export const faults: ReadonlyArray<Fault> = [
  fault("pets.once-always", "Ignores the idempotency key, and inserts an animal for each request.")
    .breaks("pets.once")
    .by(
      replacesInsertOnce(
        (real) => (pet) => Effect.map(real.insert(pet), (stored) => ({ _tag: "Inserted", pet: stored }))
      )
    ),
  fault("pets.once-for-all-callers", "Shares idempotency keys among callers.")
    .breaks("pets.once")
    .by(changesOnce(() => ({ caller: "all" }))),
  fault(
    "pets.once-any-animal",
    "Returns the first animal for an idempotency key, even if the request differs."
  )
    .breaks("pets.once")
    .by(changesOnce(() => ({ fingerprint: "same" }))),
  fault("pets.once-forever", "Treats idempotency keys as valid forever.")
    .breaks("pets.once")
    .by(changesOnce(() => ({ now: 0 }))),
  fault(
    "pets.once-two-steps",
    "Looks up an idempotency key and inserts the animal in two steps, so that two calls insert two animals."
  )
    .breaks("pets.once")
    .by(
      replacesInsertOnce((real) => {
        const known = new Map<
          string,
          { readonly fingerprint: string; readonly at: number; readonly id: bigint }
        >()
        return (pet, { caller, fingerprint, key, now }) =>
          Effect.gen(function* () {
            const place = `${caller} ${key}`
            const before = known.get(place)
            yield* Effect.yieldNow
            if (before !== undefined && before.at + Once.RETENTION_MS > now) {
              if (before.fingerprint !== fingerprint) return { _tag: "Mismatch" as const }
              const found = yield* real.page({ limit: 1, status: undefined, after: before.id - 1n })
              const [first] = found
              if (first !== undefined) return { _tag: "Replayed" as const, pet: first }
            }
            const stored = yield* real.insert(pet)
            known.set(place, { fingerprint, at: now, id: stored.id })
            return { _tag: "Inserted" as const, pet: stored }
          })
      })
    )
]
