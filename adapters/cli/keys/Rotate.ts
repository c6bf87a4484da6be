/** `animal-store keys rotate`: issues a new secret for a key. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as KeyLifecycle from "../../../core/access/KeyLifecycle.ts"
import * as Setting from "../Setting.ts"
import * as KeyCommand from "./KeyCommand.ts"
import * as KeyText from "./KeyText.ts"

/** Issues a new secret and prints it; the old secret expires after `--overlap`. */
export const rotate = Command.make(
  "rotate",
  {
    id: KeyCommand.keyId,
    overlapMs: Setting.withDefault(
      "overlap",
      "DURATION",
      "Time until the old key expires, such as 0, 90s, 30m, 24h or 7d.",
      KeyLifecycle.parseOverlap,
      "24h"
    ),
    force: Setting.toggleWithoutVariable(
      "force",
      "Rotate even if this ends a secret that an earlier rotation left valid."
    ),
    ...KeyCommand.flags
  },
  Effect.fn("keys rotate")(function* (flags) {
    const store = yield* KeyCommand.open(flags)
    const { force, overlapMs } = flags
    const rotated = yield* KeyCommand.change(flags, `keys log ${flags.id}`, () =>
      store.keys.rotate(flags.id, { overlapMs, force })
    )
    const { id, oldKeyExpiresAt, plan } = rotated
    const until =
      oldKeyExpiresAt === undefined ? "" : ` The old key works until ${KeyText.time(oldKeyExpiresAt)}.`
    yield* KeyCommand.printSecret(flags, `Rotated ${id}.${until}`, `${plan} key`, rotated)
  }, Effect.scoped)
).pipe(
  Command.withDescription(
    "Issue a new secret for a key. Both secrets share its limits and bans until the old one expires."
  )
)
