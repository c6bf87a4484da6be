/** `animal-store keys revoke` and `animal-store admin revoke`: revoke what has the id. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as KeyCommand from "./KeyCommand.ts"

/** Creates the command that revokes a key, or an admin token, permanently. */
export const of = (isToken: boolean) =>
  Command.make(
    "revoke",
    { id: KeyCommand.keyId, ...KeyCommand.flags },
    Effect.fn("keys revoke")(function* (flags) {
      const store = yield* KeyCommand.open(flags)
      const keys = isToken ? store.adminTokens : store.keys
      const proof = isToken ? "admin list" : `keys log ${flags.id}`
      const { id, revokedAt = null } = yield* KeyCommand.change(flags, proof, () => keys.revoke(flags.id))
      const time = isToken ? "immediately" : KeyCommand.NOTICE
      yield* KeyCommand.print(flags, { id, revokedAt }, `Revoked ${id}. Running servers reject it ${time}.`)
    }, Effect.scoped)
  ).pipe(Command.withDescription(`Revoke ${isToken ? "an admin token" : "a key"} permanently.`))
