/** `animal-store keys unban`: lifts the ban of a key and clears its strikes. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as KeyCommand from "./KeyCommand.ts"
import * as KeyText from "./KeyText.ts"

/** Lifts the ban of a key, if there is one, and clears its strikes. */
export const unban = Command.make(
  "unban",
  { id: KeyCommand.keyId, ...KeyCommand.flagsWithLimits },
  Effect.fn("keys unban")(function* (flags) {
    const store = yield* KeyCommand.open(flags)
    const { id, usage } = yield* KeyCommand.change(flags, `keys log ${flags.id}`, () =>
      store.keys.unban(flags.id)
    )
    const { bannedUntil = null, strikes } = usage
    yield* KeyCommand.print(
      flags,
      { id, bannedUntil, strikes },
      bannedUntil === null
        ? `${id} was not banned; its strikes (${strikes}) are cleared.`
        : `Unbanned ${id}, which was banned until ${KeyText.time(bannedUntil)}. Running servers apply it immediately.`
    )
  }, Effect.scoped)
).pipe(Command.withDescription("Lift the ban of a key and clear its strikes. Its limits and usage are kept."))
