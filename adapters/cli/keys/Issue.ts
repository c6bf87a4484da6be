/** `animal-store keys issue`: issues a key. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as KeyLifecycle from "../../../core/access/KeyLifecycle.ts"
import * as Database from "../Database.ts"
import * as Failure from "../Failure.ts"
import { printable } from "../Printable.ts"
import * as Setting from "../Setting.ts"
import * as KeyCommand from "./KeyCommand.ts"
import * as KeyText from "./KeyText.ts"

/** Issues a key and prints its secret, which is shown only once. Creates a missing database. */
export const issue = Command.make(
  "issue",
  {
    plan: KeyCommand.plan("Plan of the key"),
    perMinute: KeyCommand.perMinute(Setting.make, "Requests per minute. Default: the limit of the plan."),
    perDay: KeyCommand.perDay(Setting.make, "Requests per day. Default: the limit of the plan."),
    label: Setting.withoutVariable(
      "label",
      "TEXT",
      "Name for operators, never sent to clients. Default: none.",
      KeyCommand.parseName
    ).pipe(Flag.optional),
    account: Setting.withoutVariable(
      "account",
      "TEXT",
      "Account to which the key belongs, such as the id of a customer. Default: none.",
      KeyCommand.parseName
    ).pipe(Flag.optional),
    metadata: Setting.withoutVariable(
      "metadata",
      "JSON",
      "JSON object of up to 4096 bytes for your own programs, never sent to clients. Default: none.",
      KeyCommand.parseMetadata
    ).pipe(Flag.optional),
    expires: KeyCommand.expires(
      Setting.make,
      1,
      "Time after which the key expires, such as 12h or 90d. Default: never."
    ),
    ...KeyCommand.flags
  },
  Effect.fn("keys issue")(function* (flags) {
    const named = yield* KeyCommand.namedPlan(flags.plan)
    const options: KeyLifecycle.IssueOptions = {
      plan: named.plan,
      limits: {
        perMinute: Option.getOrUndefined(flags.perMinute),
        perDay: Option.getOrUndefined(flags.perDay)
      },
      label: Option.getOrUndefined(flags.label),
      account: Option.getOrUndefined(flags.account),
      metadata: Option.getOrUndefined(flags.metadata),
      expires: Option.getOrUndefined(flags.expires)
    }
    // Validated before a database is created.
    yield* Effect.mapError(Effect.fromResult(KeyLifecycle.limitsOf(options, named.plans)), Failure.userError)
    const store = yield* KeyCommand.open({ ...flags, plans: named.plans }, Database.open)
    const issued = yield* KeyCommand.change(flags, "keys list", () => store.keys.issue(options))
    const { expiresAt, id, label, limits, plan } = issued
    const suffix = label === undefined ? "" : ` for ${printable(label)}`
    const expiry = expiresAt === undefined ? "" : ` It expires at ${KeyText.time(expiresAt)}.`
    const text = `Issued ${id}${suffix}: ${KeyText.limits(limits)}.${expiry}`
    yield* KeyCommand.printSecret(flags, text, `${plan} key`, issued)
  }, Effect.scoped)
).pipe(Command.withDescription("Issue a key. It is shown only once; the database stores only its SHA-256."))
