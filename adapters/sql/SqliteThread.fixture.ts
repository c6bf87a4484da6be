import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import type * as Batch from "../storage/Batch.ts"

/** Returns a function that submits a write as an effect; an interruption withdraws the write. */
export const asEffect =
  <Write, A>(submit: Batch.Submit<Write, A, SqlError>) =>
  (write: Write): Effect.Effect<A, SqlError> =>
    Effect.callback((resume) => Effect.sync(submit(write, resume)))
