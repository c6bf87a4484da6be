/** Implements `ResponseStore` in memory. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Once } from "../../core/idempotency/Once.ts"
import { type Claim, ResponseStore } from "../../core/ports/ResponseStore.ts"
import { OnceRecords } from "./OnceRecords.ts"

/** Creates an empty store. */
export const layer: Layer.Layer<never> = Layer.sync(ResponseStore, () => {
  const records = new OnceRecords<{ readonly since: number; readonly result: string | undefined }>()

  const claim = (once: Once): Claim => {
    const record = records.find(once)
    if (record === undefined) {
      records.add(once, { since: once.now, result: undefined })
      return { _tag: "Claimed" }
    }
    if (record.fingerprint !== once.fingerprint) return { _tag: "Mismatch" }
    const { result, since } = record.value
    return result === undefined ? { _tag: "Unsettled", since } : { _tag: "Settled", result }
  }

  return {
    claim: (once) => Effect.sync(() => claim(once)),
    settle: (once, result) =>
      Effect.sync(() => {
        const record = records.find(once)
        if (result === undefined) records.delete(once)
        else if (record !== undefined) record.value = { since: once.now, result }
      })
  }
})
