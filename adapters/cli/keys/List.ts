/** `animal-store keys list`: lists all keys, or those of an account. */
import * as Clock from "effect/Clock"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as KeyStatus from "../../../core/access/KeyStatus.ts"
import * as KeyRecord from "../../embed/KeyRecord.ts"
import * as Database from "../Database.ts"
import * as Output from "../Output.ts"
import { printable } from "../Printable.ts"
import * as Setting from "../Setting.ts"
import * as KeyCommand from "./KeyCommand.ts"
import * as KeyTable from "./KeyTable.ts"
import * as KeyText from "./KeyText.ts"

/** Prints all keys with their states, without secrets. */
export const list = Command.make(
  "list",
  {
    account: Setting.withoutVariable(
      "account",
      "TEXT",
      "List only the keys of this account. Default: all keys.",
      KeyCommand.parseName
    ).pipe(Flag.optional),
    ...KeyCommand.flagsWithPlans
  },
  Effect.fn("keys list")(function* (flags) {
    const account = Option.getOrUndefined(flags.account)
    const keys = yield* KeyCommand.read(flags, KeyStatus.list(account === undefined ? {} : { account }))
    // The table takes time for many keys, so `--json` does not make one.
    if (flags.json) {
      const records = keys.map((key) => ({
        ...KeyRecord.make(key),
        bannedUntil: key.usage.bannedUntil ?? null
      }))
      return yield* Output.print(JSON.stringify(records))
    }
    if (keys.length === 0) {
      const subject = account === undefined ? "no keys" : `no keys of the account ${printable(account)}`
      const hint = yield* Database.issueHint(flags.database)
      return yield* Output.print(`There are ${subject} in ${Database.locationOf(flags.database)}\n${hint}`)
    }
    const table = KeyTable.make(keys, yield* Clock.currentTimeMillis)
    yield* Output.print([table, ...KeyText.unknownPlans(keys, flags.plans)].join("\n"))
  }, Effect.scoped)
).pipe(Command.withDescription("List all keys with bans and expiry, oldest first, without secrets."))
