/** Sends the requests of the doctor. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { Sent } from "../evaluation/Http.ts"
import type * as Trial from "../evaluation/Trial.ts"
import type { Exchange } from "../http/Exchange.ts"
import type * as Conversation from "../subjects/Conversation.ts"
import { SetupError } from "./SetupError.ts"

/** The subject sent a response that cannot be read completely; the checks report this failure. */
export class Unreadable extends Data.TaggedError("Unreadable")<{ readonly reason: string }> {}

/** Fails with an error in the set-up. */
export const failSetup = (reason: string): Effect.Effect<never, SetupError> =>
  Effect.fail(new SetupError({ reason }))

/** Sends a request; fails with `Unreadable` if the response cannot be read, or with `SetupError` if there is none. */
export const send = (
  conversation: Conversation.Conversation,
  sent: Sent,
  trial: Trial.Trial,
  reason = (message: string) => message
): Effect.Effect<Exchange, SetupError | Unreadable> =>
  Effect.mapError(conversation.send(sent, trial), (failure) =>
    failure._tag === "Violation" && failure.clause !== undefined
      ? new Unreadable({ reason: failure.message })
      : new SetupError({ reason: reason(failure.message) })
  )
