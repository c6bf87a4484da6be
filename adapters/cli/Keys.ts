/** `animal-store keys`: administration of API keys, on any database, also under running servers. */
import * as Clock from "effect/Clock"
import * as Argument from "effect/cli/Argument"
import * as CliError from "effect/cli/CliError"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as KeyLifecycle from "../../core/access/KeyLifecycle.ts"
import * as PetName from "../../core/domain/PetName.ts"
import * as Plan from "../../core/limits/Plan.ts"
import type { AnimalStore, ApiKey } from "../embed/index.ts"
import * as Database from "./Database.ts"
import * as DurationFlag from "./DurationFlag.ts"
import * as Failure from "./Failure.ts"
import * as IssueKeyFlag from "./IssueKeyFlag.ts"
import * as KeyTable from "./KeyTable.ts"
import * as Output from "./Output.ts"
import { printable } from "./Printable.ts"
import * as Setting from "./Setting.ts"

const DAY_MS = 24 * 60 * 60 * 1_000

/** What every command of the group takes. */
const common = {
  database: Database.address,
  databaseTimeoutMs: Database.timeoutMs,
  json: Setting.toggle("json", "Print one line of JSON on standard output, and nothing else.")
}

interface CommonFlags {
  readonly database: string
  readonly databaseTimeoutMs: number
  readonly json: boolean
}

const open = (
  { database, databaseTimeoutMs }: CommonFlags,
  opening: typeof Database.openExisting = Database.openExisting
): Effect.Effect<AnimalStore, CliError.UserError, Scope.Scope> =>
  database === "memory:"
    ? Effect.fail(
        Failure.userError(
          new Error(
            `${Setting.title("database")}: memory: ends with this process, so it has no keys to manage`
          )
        )
      )
    : opening({ database, databaseTimeoutMs })

const print = (
  { json }: CommonFlags,
  value: unknown,
  text: string,
  consequence?: string
): Effect.Effect<void, CliError.UserError> => Output.print(json ? JSON.stringify(value) : text, consequence)

/** A secret that was not shown is lost. */
const isLost = (id: string): string => `; nobody knows the new secret of ${id}: rotate or revoke that key`

const keyId = Argument.String("id").pipe(
  Argument.withDescription("Id of the key, such as key_5BKLi8DbtKY; 'keys list' shows it."),
  Argument.mapEffect((id) =>
    // A secret must not end up in messages, and it is easily mistaken for the id.
    id.startsWith("ast_")
      ? Effect.fail(
          new CliError.ValidationError({ message: "id: must be the id of a key (key_…), not the key itself" })
        )
      : Effect.succeed(id)
  )
)

const requests = Setting.between(1, Plan.maxRequests)

const label: Setting.Parse<string> = (text) => {
  const fault = PetName.fault(text)
  return fault === undefined ? Result.succeed(text) : Result.fail(fault)
}

const issue = Command.make(
  "issue",
  {
    plan: Setting.make(
      "plan",
      "PLAN",
      `What the key may send: ${Plan.names.join(", ")}; Enterprise needs both numbers.`,
      IssueKeyFlag.parsePlan
    ),
    perMinute: Setting.make("per-minute", "N", "Requests a minute, instead of the plan's.", requests).pipe(
      Flag.optional
    ),
    perDay: Setting.make("per-day", "N", "Requests a day, instead of the plan's.", requests).pipe(
      Flag.optional
    ),
    label: Setting.make("label", "TEXT", "A name for people; clients never see it.", label).pipe(
      Flag.optional
    ),
    ...common
  },
  Effect.fn("keys issue")(function* (flags) {
    const options: KeyLifecycle.IssueOptions = {
      plan: flags.plan,
      limits: {
        perMinute: Option.getOrUndefined(flags.perMinute),
        perDay: Option.getOrUndefined(flags.perDay)
      },
      label: Option.getOrUndefined(flags.label)
    }
    // Before a database is made for nothing.
    yield* Effect.mapError(Effect.fromResult(KeyLifecycle.limitsOf(options)), Failure.userError)
    const store = yield* open(flags, Database.open)
    const { id, key, label = null, limits, plan } = yield* Failure.attempt(() => store.keys.issue(options))
    const named = label === null ? "" : ` for ${printable(label)}`
    yield* print(
      flags,
      { id, plan, limits, label, key },
      [
        `Issued ${id}${named}: ${limits.perMinute} requests a minute, ${limits.perDay} a day.`,
        "",
        `  ${plan} key, shown only now: ${key}`,
        ""
      ].join("\n"),
      isLost(id)
    )
  }, Effect.scoped)
).pipe(Command.withDescription("Issue a key. It is shown once: the database holds its SHA-256 only."))

const list = Command.make(
  "list",
  common,
  Effect.fn("keys list")(function* (flags) {
    const store = yield* open(flags)
    const keys = yield* Failure.attempt(() => store.keys.list())
    const now = yield* Clock.currentTimeMillis
    const none = `There are no keys in ${Database.placeOf(flags.database)}\n${Database.howToIssue(flags.database)}`
    yield* print(flags, keys.map(recordOf), keys.length === 0 ? none : KeyTable.make(keys, now))
  }, Effect.scoped)
).pipe(Command.withDescription("List all keys, oldest first, without anything that opens the store."))

/** A key as `list --json` shows it: times are epoch milliseconds, what is absent is null, hashes are left out. */
const recordOf = (key: ApiKey) => ({
  id: key.id,
  plan: key.plan,
  limits: key.limits,
  label: key.label ?? null,
  createdAt: key.createdAt,
  revokedAt: key.revokedAt ?? null,
  secrets: key.secrets.map(({ createdAt, expiresAt }) => ({ createdAt, expiresAt: expiresAt ?? null }))
})

const rotate = Command.make(
  "rotate",
  {
    id: keyId,
    overlapMs: Setting.make(
      "overlap",
      "DURATION",
      "How long the old key works beside the new one, such as 0, 90s, 30m, 24h or 7d; default 24h.",
      DurationFlag.parse(0, 3_650 * DAY_MS)
    ).pipe(Flag.withDefault(DAY_MS)),
    ...common
  },
  Effect.fn("keys rotate")(function* (flags) {
    const store = yield* open(flags)
    const { overlapMs } = flags
    const {
      id,
      key,
      oldKeyExpiresAt = null,
      plan
    } = yield* Failure.attempt(() => store.keys.rotate(flags.id, { overlapMs }))
    const until =
      oldKeyExpiresAt === null ? "" : ` The old key works until ${KeyTable.time(oldKeyExpiresAt)}.`
    yield* print(
      flags,
      { id, plan, key, oldKeyExpiresAt },
      [`Rotated ${id}.${until}`, "", `  ${plan} key, shown only now: ${key}`, ""].join("\n"),
      isLost(id)
    )
  }, Effect.scoped)
).pipe(Command.withDescription("Give a key a new secret. Both share its limits and bans while they overlap."))

const revoke = Command.make(
  "revoke",
  { id: keyId, ...common },
  Effect.fn("keys revoke")(function* (flags) {
    const store = yield* open(flags)
    const { id, revokedAt = null } = yield* Failure.attempt(() => store.keys.revoke(flags.id))
    yield* print(
      flags,
      { id, revokedAt },
      `Revoked ${id}. Servers that run refuse it within 5 seconds (their --key-cache).`
    )
  }, Effect.scoped)
).pipe(Command.withDescription("Refuse a key from now on, for good."))

/** The group. */
export const keys = Command.make("keys").pipe(
  Command.withSubcommands([issue, list, rotate, revoke]),
  Command.withDescription(
    "Issue, list, rotate and revoke API keys; servers on the database may run meanwhile."
  )
)
