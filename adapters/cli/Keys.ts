/** `animal-store keys`: administration of API keys on any database, also while servers are running. */
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

/** Flags of every `keys` command. */
const common = {
  database: Database.address,
  databaseTimeoutMs: Database.timeoutMs,
  json: Setting.toggle("json", "Print exactly one line of JSON on standard output.")
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
            `${Setting.title("database")}: memory: has no keys to manage, because it exists only within one process`
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

/** Tells what to do about a secret that could not be printed. */
const lostSecretHint = (id: string): string => `; the new secret of ${id} is lost: rotate or revoke that key`

const keyId = Argument.String("id").pipe(
  Argument.withDescription("Id of the key, such as key_5BKLi8DbtKY; 'keys list' shows it."),
  Argument.mapEffect((id) =>
    // A secret is easily confused with the id, and must not appear in messages.
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
      `Plan of the key: ${Plan.names.join(", ")}; Enterprise requires both limits.`,
      IssueKeyFlag.parsePlan
    ),
    perMinute: Setting.make(
      "per-minute",
      "N",
      "Requests per minute; overrides the plan's limit.",
      requests
    ).pipe(Flag.optional),
    perDay: Setting.make("per-day", "N", "Requests per day; overrides the plan's limit.", requests).pipe(
      Flag.optional
    ),
    label: Setting.make("label", "TEXT", "Name for operators; never sent to clients.", label).pipe(
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
    // Validated before a database is created.
    yield* Effect.mapError(Effect.fromResult(KeyLifecycle.limitsOf(options)), Failure.userError)
    const store = yield* open(flags, Database.open)
    const { id, key, label = null, limits, plan } = yield* Failure.attempt(() => store.keys.issue(options))
    const suffix = label === null ? "" : ` for ${printable(label)}`
    yield* print(
      flags,
      { id, plan, limits, label, key },
      [
        `Issued ${id}${suffix}: ${limits.perMinute} requests a minute, ${limits.perDay} a day.`,
        "",
        `  ${plan} key, shown only now: ${key}`,
        ""
      ].join("\n"),
      lostSecretHint(id)
    )
  }, Effect.scoped)
).pipe(Command.withDescription("Issue a key. It is shown only once; the database stores only its SHA-256."))

const list = Command.make(
  "list",
  common,
  Effect.fn("keys list")(function* (flags) {
    const store = yield* open(flags)
    const keys = yield* Failure.attempt(() => store.keys.list())
    const now = yield* Clock.currentTimeMillis
    const empty = `There are no keys in ${Database.locationOf(flags.database)}\n${Database.issueHint(flags.database)}`
    yield* print(flags, keys.map(recordOf), keys.length === 0 ? empty : KeyTable.make(keys, now))
  }, Effect.scoped)
).pipe(Command.withDescription("List all keys, oldest first, without secrets."))

/** Converts a key for `list --json`: times are epoch milliseconds, absent values are null, hashes are omitted. */
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
      "Time until the old key expires, such as 0, 90s, 30m, 24h or 7d; default 24h.",
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
      lostSecretHint(id)
    )
  }, Effect.scoped)
).pipe(
  Command.withDescription(
    "Issue a new secret for a key. Both secrets share its limits and bans until the old one expires."
  )
)

const revoke = Command.make(
  "revoke",
  { id: keyId, ...common },
  Effect.fn("keys revoke")(function* (flags) {
    const store = yield* open(flags)
    const { id, revokedAt = null } = yield* Failure.attempt(() => store.keys.revoke(flags.id))
    yield* print(
      flags,
      { id, revokedAt },
      `Revoked ${id}. Running servers reject it within 5 seconds (their --key-cache).`
    )
  }, Effect.scoped)
).pipe(Command.withDescription("Revoke a key permanently."))

/** The `keys` commands. */
export const keys = Command.make("keys").pipe(
  Command.withSubcommands([issue, list, rotate, revoke]),
  Command.withDescription(
    "Issue, list, rotate and revoke API keys, also while servers are running on the database."
  )
)
