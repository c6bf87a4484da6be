/** `animal-store admin`: manages the tokens that open the admin API and the console. */
import * as Clock from "effect/Clock"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as AdminTokens from "../../core/access/AdminTokens.ts"
import * as Expiry from "../../core/access/Expiry.ts"
import * as KeyStatus from "../../core/access/KeyStatus.ts"
import * as KeyRecord from "../embed/KeyRecord.ts"
import * as OsUser from "../embed/OsUser.ts"
import * as Database from "./Database.ts"
import * as KeyCommand from "./keys/KeyCommand.ts"
import * as KeyTable from "./keys/KeyTable.ts"
import * as KeyText from "./keys/KeyText.ts"
import * as Revoke from "./keys/Revoke.ts"
import { printable } from "./Printable.ts"
import * as Setting from "./Setting.ts"

/** Issues a token and prints its secret, which is shown only once. Creates a missing database. */
const token = Command.make(
  "token",
  {
    name: Setting.withoutVariable(
      "name",
      "TEXT",
      "Name that the events of its actions have. Default: your user name.",
      KeyCommand.parseName
    ).pipe(Flag.optional),
    expires: Setting.make(
      "expires-in",
      "DURATION|never",
      "Time after which the token expires, such as 12h or 30d. Default: never.",
      Expiry.parse(1)
    ).pipe(Flag.optional),
    ...KeyCommand.flags
  },
  Effect.fn("admin token")(function* (flags) {
    const store = yield* KeyCommand.open(flags, Database.open)
    const label = Option.getOrElse(flags.name, OsUser.name)
    const options = { plan: AdminTokens.PLAN, label, expires: Option.getOrUndefined(flags.expires) }
    const issued = yield* KeyCommand.change(flags, "admin list", () => store.adminTokens.issue(options))
    const { expiresAt, id } = issued
    const expiry = expiresAt === undefined ? "never expires" : `expires at ${KeyText.time(expiresAt)}`
    const text = `Issued ${id} for ${printable(label)}, which ${expiry}.`
    yield* KeyCommand.printSecret(flags, text, "Admin token", issued)
  }, Effect.scoped)
).pipe(Command.withDescription("Issue an admin token. It is shown once; the database stores its SHA-256."))

/** Prints all tokens with their states, without secrets. */
const list = Command.make(
  "list",
  KeyCommand.flags,
  Effect.fn("admin list")(function* (flags) {
    const tokens = yield* KeyCommand.read(flags, AdminTokens.provide(KeyStatus.list()))
    const table = KeyTable.make(tokens, yield* Clock.currentTimeMillis)
    yield* KeyCommand.print(flags, tokens.map(KeyRecord.make), table)
  }, Effect.scoped)
).pipe(Command.withDescription("List all admin tokens, oldest first, without secrets."))

/** The `admin` commands. */
export const admin = Command.make("admin").pipe(
  Command.withSubcommands([token, list, Revoke.of(true)]),
  Command.withDescription("Issue, list and revoke the tokens that open the console and the admin API.")
)
