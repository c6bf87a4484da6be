/** `animal-store keys revoke`: revokes a key. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as KeyCommand from "./KeyCommand.ts"

/** Revokes a key permanently. */
export const revoke = Command.make(
  "revoke",
  { id: KeyCommand.keyId, ...KeyCommand.flags },
  Effect.fn("keys revoke")(function* (flags) {
    const store = yield* KeyCommand.open(flags)
    const { id, revokedAt = null } = yield* KeyCommand.change(flags, `keys log ${flags.id}`, () =>
      store.keys.revoke(flags.id)
    )
    yield* KeyCommand.print(
      flags,
      { id, revokedAt },
      `Revoked ${id}. Running servers reject it ${KeyCommand.NOTICE}.`
    )
  }, Effect.scoped)
).pipe(Command.withDescription("Revoke a key permanently."))
