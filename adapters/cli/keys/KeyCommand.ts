/** Code that the `keys` commands share: defines flags, opens the store and prints results. */

import * as Context from "effect/Context"
import * as Argument from "effect/cli/Argument"
import * as CliError from "effect/cli/CliError"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Expiry from "../../../core/access/Expiry.ts"
import * as Metadata from "../../../core/access/Metadata.ts"
import * as PetName from "../../../core/domain/PetName.ts"
import { StoreUnavailable } from "../../../core/errors/StoreUnavailable.ts"
import * as CountPer from "../../../core/limits/CountPer.ts"
import * as OwnPlans from "../../../core/limits/OwnPlans.ts"
import * as Plan from "../../../core/limits/Plan.ts"
import type { ApiKeyStore } from "../../../core/ports/ApiKeyStore.ts"
import type { RateLimitStore } from "../../../core/ports/RateLimitStore.ts"
import type { AnimalStore, InvalidDatabase, IssuedApiKey } from "../../embed/index.ts"
import * as KeyReader from "../../embed/KeyReader.ts"
import * as KeyRecord from "../../embed/KeyRecord.ts"
import * as Database from "../Database.ts"
import * as Failure from "../Failure.ts"
import { Host } from "../Host.ts"
import * as IssueKeyFlag from "../IssueKeyFlag.ts"
import * as Output from "../Output.ts"
import * as Setting from "../Setting.ts"
import * as StoreFlags from "../StoreFlags.ts"

/** Flags of every `keys` command. */
export const flags = {
  database: StoreFlags.store.database,
  databaseTimeoutMs: StoreFlags.store.databaseTimeoutMs,
  json: Setting.toggle("json", "Print the result as one line of JSON, and nothing else, to standard output.")
}

/** Flags of commands that read or change rate limits and bans. */
export const flagsWithLimits = {
  ...flags,
  limits: StoreFlags.store.limits,
  countPer: StoreFlags.store.countPer
}

/** Flags of commands that show keys with their limits. */
export const flagsWithPlans = { ...flagsWithLimits, plans: StoreFlags.store.plans }

/** Values of `flags` or `flagsWithLimits`. */
export interface Values {
  readonly database: string
  readonly databaseTimeoutMs: number
  readonly json: boolean
  readonly limits?: string | undefined
  readonly countPer?: CountPer.CountPer | undefined
  readonly plans?: OwnPlans.OwnPlans | undefined
}

/** Opens the store for a command that changes keys. */
export const open = (
  { countPer, database, databaseTimeoutMs, limits, plans }: Values,
  openStore: typeof Database.openExisting = Database.openExisting
): Effect.Effect<AnimalStore, CliError.UserError, Scope.Scope> =>
  Effect.andThen(
    rejectMemory(database, limits),
    openStore({ countPer, database, databaseTimeoutMs, limits, plans })
  )

/** Runs a program that only reads keys and limits; the databases are neither created nor changed. */
export const read = <A, E>(
  { countPer = "key", database, databaseTimeoutMs, limits, plans = {} }: Values,
  program: Effect.Effect<A, E, ApiKeyStore | RateLimitStore>
): Effect.Effect<A, CliError.UserError, Scope.Scope> =>
  Effect.gen(function* () {
    yield* rejectMemory(database, limits)
    yield* Database.requireAllExisting(database, limits)
    const keys = yield* build("database", KeyReader.keys(database, databaseTimeoutMs))
    const usage = yield* build(
      limits === undefined ? "database" : "limits",
      KeyReader.limits(limits ?? database, databaseTimeoutMs)
    )
    return yield* program.pipe(
      Effect.provide(Context.merge(keys, usage)),
      Effect.provideService(CountPer.CountPer, countPer),
      Effect.provideService(OwnPlans.OwnPlans, plans),
      Effect.mapError((cause) => Failure.userError(Failure.ofEither(cause, limits)))
    )
  })

/**
 * Makes a change. After a failure of the store it is unknown whether the change was stored, because only its
 * acknowledgement may be lost; the message names `command`, which shows that.
 */
export const change = <A>(
  { limits }: Values,
  command: string,
  evaluate: () => Promise<A>
): Effect.Effect<A, CliError.UserError> =>
  Failure.attempt(evaluate, (cause) =>
    Failure.withConsequence(
      Failure.ofEither(cause, limits),
      cause instanceof StoreUnavailable && cause.retryable
        ? `; the change may have been applied; see 'animal-store ${command}'`
        : ""
    )
  )

/** Builds a layer; the messages of its errors begin with the flag. */
const build = <A, E>(
  flag: string,
  opened: Result.Result<Layer.Layer<A, E>, InvalidDatabase>
): Effect.Effect<Context.Context<A>, CliError.UserError, Scope.Scope> =>
  Effect.fromResult(opened).pipe(Effect.flatMap(Layer.build), Effect.mapError(Failure.userErrorAt(flag)))

/** Rejects `memory:`, because such a store exists only within one server process. */
const rejectMemory = (
  database: string,
  limits: string | undefined
): Effect.Effect<void, CliError.UserError> => {
  if (database === "memory:") return noMemory("database", "keys")
  return limits === "memory:" ? noMemory("limits", "limits") : Effect.void
}

const noMemory = (flag: string, content: string): Effect.Effect<never, CliError.UserError> =>
  Effect.fail(
    Failure.userError(
      new Error(
        `${Setting.title(flag)}: a memory: database has no ${content} to manage, because it exists only within one process`
      )
    )
  )

/** Prints `value` as JSON with `--json`, otherwise `text`. If this fails, the error message ends with `consequence`. */
export const print = (
  { json }: Values,
  value: unknown,
  text: string,
  consequence?: string
): Effect.Effect<void, Output.WriteFailed> => Output.print(json ? JSON.stringify(value) : text, consequence)

/** The part of a message that states how soon running servers apply a change to a key. */
export const NOTICE = "within 5 seconds (their --key-cache)"

/** Prints a key that was issued or rotated with its secret, which is shown only now; `kind` is what it is called. */
export const printSecret = (flags: Values, text: string, kind: string, issued: IssuedApiKey) =>
  print(
    flags,
    KeyRecord.issued(issued),
    [text, "", `  ${kind}, shown only now: ${issued.key}`, ""].join("\n"),
    `; the new secret of ${issued.id} is lost: revoke it, or rotate it if it is a key`
  )

/** The argument `id` of commands for one key, which rejects secrets. */
export const keyId = Argument.String("id").pipe(
  Argument.withDescription("Id of the key, such as key_5BKLi8DbtKY; 'list' shows it."),
  Argument.mapEffect((id) =>
    // Users may confuse the secret with the id. The message must not contain the secret.
    /^as[ta]_/.test(id)
      ? Effect.fail(
          new CliError.ValidationError({ message: "id: must be an id (key_…, adm_…), not a secret" })
        )
      : Effect.succeed(id)
  )
)

const plansVariable = Setting.variable(StoreFlags.storeTable.plans.flag)

/** Creates the flag `--plan` of a key, without a variable: that of this name has the plans that servers define. */
export const plan = (description: string) =>
  Setting.withoutVariable(
    "plan",
    Plan.names.join("|"),
    `${description}; ${Plan.agreed} requires both limits; also a plan that servers define, as NAME=PER_MINUTE/PER_DAY, or by its name if ${plansVariable} has its definition.`,
    Setting.text
  )

/** The plans that servers define, as the variable of their `--plan` states. */
export const serverPlans: Effect.Effect<OwnPlans.OwnPlans, CliError.UserError> = Effect.gen(function* () {
  const { env } = yield* Host
  const texts = Setting.textOfVariable(env[plansVariable] ?? "").match(/\S+/g) ?? []
  const parsed = OwnPlans.rule.reader.parseAll(texts)
  return yield* Effect.mapError(Effect.fromResult(parsed), ({ reason, text }) =>
    invalid(plansVariable, reason, text)
  )
})

/** Returns the plan that the `--plan` of a key names, and the plans that servers define. */
export const namedPlan = (text: string): Effect.Effect<IssueKeyFlag.NamedPlan, CliError.UserError> =>
  Effect.flatMap(serverPlans, (plans) =>
    Effect.mapError(Effect.fromResult(IssueKeyFlag.parsePlan(text, plans)), (reason) =>
      invalid("--plan", reason, text)
    )
  )

const invalid = (source: string, reason: string, text: string): CliError.UserError =>
  Failure.userError(new Error(`${source}: ${reason}; got ${JSON.stringify(text)}`))

const requests = Setting.between(1, Plan.maxRequests)

/** Creates a flag with a variable (`Setting.make`) or without one (`Setting.withoutVariable`). */
type Define = typeof Setting.make

/** Creates the flag `--per-minute`. */
export const perMinute = (define: Define, description: string) =>
  define("per-minute", "N", description, requests).pipe(Flag.optional)

/** Creates the flag `--per-day`. */
export const perDay = (define: Define, description: string) =>
  define("per-day", "N", description, requests).pipe(Flag.optional)

/** Parses a label or an account. */
export const parseName: Setting.Parse<string> = (text) => {
  const reason = PetName.problem(text)
  return reason === undefined ? Result.succeed(text) : Result.fail(reason)
}

/** Parses metadata. */
export const parseMetadata: Setting.Parse<Metadata.Metadata> = (text) =>
  Result.try(() => JSON.parse(text)).pipe(
    Result.flatMap(Metadata.valid),
    Result.mapError((error) =>
      error instanceof Metadata.MetadataInvalid ? error.reason : "must be a JSON object"
    )
  )

/** Parses a new value; an empty text is `null`, which removes the value. */
export const orRemoved =
  <A>(parse: Setting.Parse<A>): Setting.Parse<A | null> =>
  (text) =>
    text === "" ? Result.succeed(null) : parse(text)

/** Creates the flag `--expires`: a duration of at least `minMs` milliseconds, or `never`. */
export const expires = (define: Define, minMs: number, description: string) =>
  define("expires", "DURATION|never", description, Expiry.parse(minMs)).pipe(Flag.optional)
