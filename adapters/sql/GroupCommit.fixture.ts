import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import type * as GroupCommit from "./GroupCommit.ts"

/** Submits writes by effects, which withdraw them when they are interrupted. */
export const waiting =
  <Write, A>(submit: GroupCommit.Submit<Write, A>) =>
  (write: Write): Effect.Effect<A, SqlError> =>
    Effect.callback((resume) => Effect.sync(submit(write, resume)))
