/** `animal-store keys list`: lists all keys. */
import * as Clock from "effect/Clock"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as KeyStatus from "../../../core/access/KeyStatus.ts"
import * as KeyRecord from "../../embed/KeyRecord.ts"
import * as Database from "../Database.ts"
import * as KeyCommand from "./KeyCommand.ts"
import * as KeyTable from "./KeyTable.ts"

/** Prints all keys with their states, without secrets. */
export const list = Command.make(
  "list",
  KeyCommand.flagsWithLimits,
  Effect.fn("keys list")(function* (flags) {
    const keys = yield* KeyCommand.read(flags, KeyStatus.list)
    const now = yield* Clock.currentTimeMillis
    const empty = `There are no keys in ${Database.locationOf(flags.database)}\n${yield* Database.issueHint(flags.database)}`
    yield* KeyCommand.print(
      flags,
      keys.map((key) => ({ ...KeyRecord.make(key), bannedUntil: key.usage.bannedUntil ?? null })),
      keys.length === 0 ? empty : KeyTable.make(keys, now)
    )
  }, Effect.scoped)
).pipe(Command.withDescription("List all keys with bans and expiry, oldest first, without secrets."))
