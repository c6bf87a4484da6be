/** Clauses about the port `RateLimitStore`. */
import { section, unchecked } from "./Clause.ts"

export const clauses = [
  ...section("§8", "design", "port", {
    "limits-store.modify.initial": "`step` receives `undefined` when no state of the key is stored.",
    "limits-store.modify.stored":
      "`step` receives the state that the latest `modify` of the key stored, with every number exact.",
    "limits-store.modify.answer": "`modify` returns the value that `step` returns.",
    "limits-store.modify.atomic": "No other `modify` of a key runs between reading and writing its state.",
    "limits-store.modify.keys-apart":
      "`modify` affects the state of its own key only, however similar other keys are.",
    "limits-store.modify.throwing-step":
      "A `step` that throws leaves the state unchanged and the store usable.",
    "limits-store.kept": "A state is kept until `RateLimit.spentAt`.",
    "limits-store.swept": unchecked(
      "A state is deleted some time after `RateLimit.spentAt`.",
      "A store may delete late, and its contents are not visible through the port."
    ),
    "limits-store.consume.equal":
      "`consume` returns what `modify` with `RateLimit.step` would return, and leaves the same state.",
    "limits-store.consume.atomic": "Concurrent `consume` and `modify` of one key take effect in sequence.",
    "limits-store.consume.clock":
      "`consume` computes its step for the time `now`, or for the time of a clock that all nodes share.",
    "limits-store.consume-many":
      "`consumeMany` returns what `modify` with `RateLimit.step` and the same cost would return, and leaves the same state.",
    "limits-store.read":
      "`read` returns the stored states of the given keys, with every number exact, and changes none.",
    "limits-store.rehearse": "`rehearse` succeeds when a request could be counted, and stores nothing.",
    "limits-store.linearizable": "Concurrent calls behave as if each took effect at one moment while it ran."
  }),
  ...section("§7", "design", "port", {
    "limits-store.fails-typed": "A method fails only with `StoreUnavailable`.",
    "limits-store.failure-stores-nothing": unchecked(
      "A failed `modify` leaves the state unchanged, unless the adapter documents when that is unknown.",
      "A partial failure cannot be caused from outside; each adapter tests its own failures."
    ),
    "limits-store.interruption":
      "An interrupted call leaves the store usable, and the state either unchanged or with the whole step applied."
  })
]
