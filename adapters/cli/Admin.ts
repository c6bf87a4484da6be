/** `animal-store admin`: manages the tokens that open the admin API and the console. */
import * as Clock from "effect/Clock"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as AdminTokens from "../../core/access/AdminTokens.ts"
import * as Expiry from "../../core/access/Expiry.ts"
import * as Database from "./Database.ts"
import * as KeyCommand from "./keys/KeyCommand.ts"
import * as KeyText from "./keys/KeyText.ts"
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
    const options = { name: Option.getOrUndefined(flags.name), expires: Option.getOrUndefined(flags.expires) }
    const issued = yield* KeyCommand.change(flags, "admin list", () => store.adminTokens.issue(options))
    const { expiresAt = null, id, name, token } = issued
    const expiry = expiresAt === null ? "It does not expire" : `It expires at ${KeyText.time(expiresAt)}`
    yield* KeyCommand.print(
      flags,
      { id, name, expiresAt, token },
      [
        `Issued ${id} for ${printable(name)}. ${expiry}.`,
        "",
        `  Admin token, shown only now: ${token}`,
        "",
        "Sign in with it at the admin port of a server ('animal-store serve --admin-port PORT').",
        ""
      ].join("\n"),
      `; the token ${id} is lost: revoke it`
    )
  }, Effect.scoped)
).pipe(
  Command.withDescription(
    "Issue an admin token. It is shown only once; the database stores only its SHA-256."
  )
)

/** Prints all tokens with their states, without secrets. */
const list = Command.make(
  "list",
  KeyCommand.flags,
  Effect.fn("admin list")(function* (flags) {
    const tokens = yield* KeyCommand.read(flags, AdminTokens.list)
    const now = yield* Clock.currentTimeMillis
    const lines = tokens.map(
      (token) =>
        `${token.id}  ${KeyText.time(token.createdAt)}  ${KeyText.state({ ...token, secrets: [] }, now)}  ${printable(token.name)}`
    )
    yield* KeyCommand.print(
      flags,
      tokens.map(({ createdAt, expiresAt = null, id, name, revokedAt = null }) => ({
        id,
        name,
        createdAt,
        expiresAt,
        revokedAt
      })),
      lines.length === 0
        ? "There are no admin tokens; 'animal-store admin token' issues one"
        : lines.join("\n")
    )
  }, Effect.scoped)
).pipe(Command.withDescription("List all admin tokens, oldest first, without secrets."))

/** Revokes a token permanently. */
const revoke = Command.make(
  "revoke",
  {
    id: KeyCommand.idOf("token (adm_…)", "Id of the token, such as adm_5BKLi8DbtKY; 'admin list' shows it."),
    ...KeyCommand.flags
  },
  Effect.fn("admin revoke")(function* (flags) {
    const store = yield* KeyCommand.open(flags)
    const { id, revokedAt = null } = yield* KeyCommand.change(flags, "admin list", () =>
      store.adminTokens.revoke(flags.id)
    )
    yield* KeyCommand.print(flags, { id, revokedAt }, `Revoked ${id}. Running servers reject it immediately.`)
  }, Effect.scoped)
).pipe(Command.withDescription("Revoke an admin token permanently."))

/** The `admin` commands. */
export const admin = Command.make("admin").pipe(
  Command.withSubcommands([token, list, revoke]),
  Command.withDescription("Issue, list and revoke the tokens that open the console and the admin API.")
)
