/** `animal-store keys set`: changes the plan, limits, label, account, metadata or expiry of a key. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ApiKey, KeyChange } from "../../embed/index.ts"
import * as KeyRecord from "../../embed/KeyRecord.ts"
import * as Failure from "../Failure.ts"
import { printable } from "../Printable.ts"
import * as Setting from "../Setting.ts"
import * as KeyCommand from "./KeyCommand.ts"
import * as KeyText from "./KeyText.ts"

/** Changes the given fields of a key; fails if no field is given. */
export const set = Command.make(
  "set",
  {
    id: KeyCommand.keyId,
    plan: KeyCommand.plan("New plan, with its limits; unchanged if absent").pipe(Flag.optional),
    perMinute: KeyCommand.perMinute(Setting.withoutVariable, "New limit per minute. Default: unchanged."),
    perDay: KeyCommand.perDay(Setting.withoutVariable, "New limit per day. Default: unchanged."),
    label: Setting.withoutVariable(
      "label",
      "TEXT",
      "New name for operators; an empty string removes it. Default: unchanged.",
      KeyCommand.orRemoved(KeyCommand.parseName)
    ).pipe(Flag.optional),
    account: Setting.withoutVariable(
      "account",
      "TEXT",
      "New account; an empty string removes it. Default: unchanged.",
      KeyCommand.orRemoved(KeyCommand.parseName)
    ).pipe(Flag.optional),
    metadata: Setting.withoutVariable(
      "metadata",
      "JSON",
      "New metadata, which replaces all of the old; an empty string removes it. Default: unchanged.",
      KeyCommand.orRemoved(KeyCommand.parseMetadata)
    ).pipe(Flag.optional),
    expires: KeyCommand.expires(
      Setting.withoutVariable,
      0,
      "Time from now after which the key expires, such as 90d; 0 means immediately. Default: unchanged."
    ),
    ...KeyCommand.flagsWithLimits
  },
  Effect.fn("keys set")(function* (flags) {
    const { account, expires, label, metadata, perDay, perMinute, plan } = flags
    const given = { account, expires, label, metadata, perDay, perMinute, plan }
    if (Object.values<Option.Option<unknown>>(given).every(Option.isNone)) {
      return yield* Effect.fail(
        Failure.userError(
          new Error(
            "pass at least one of --plan, --per-minute, --per-day, --label, --account, --metadata and --expires"
          )
        )
      )
    }
    const named = Option.isNone(plan) ? undefined : yield* KeyCommand.namedPlan(plan.value)
    const change: KeyChange = {
      plan: named?.plan,
      limits: { perMinute: Option.getOrUndefined(perMinute), perDay: Option.getOrUndefined(perDay) },
      label: Option.getOrUndefined(label),
      account: Option.getOrUndefined(account),
      metadata: Option.getOrUndefined(metadata),
      expires: Option.getOrUndefined(expires)
    }
    const store = yield* KeyCommand.open({ ...flags, plans: named?.plans ?? (yield* KeyCommand.serverPlans) })
    const key = yield* KeyCommand.change(flags, `keys log ${flags.id}`, () =>
      store.keys.set(flags.id, change)
    )
    yield* KeyCommand.print(flags, KeyRecord.make(key), textOf(key))
  }, Effect.scoped)
).pipe(
  Command.withDescription(
    "Change the plan, limits, label, account, metadata or expiry of a key. Its secret and usage are kept; lower limits also apply to past usage."
  )
)

const textOf = ({ account, expiresAt, id, label, limits, plan }: ApiKey): string => {
  const owner = account === undefined ? "" : `; account ${printable(account)}`
  const name = label === undefined ? "no label" : `label ${printable(label)}`
  const expiry = expiresAt === undefined ? "never expires" : `expires at ${KeyText.time(expiresAt)}`
  return [
    `${id} is on the ${plan} plan with ${KeyText.limits(limits)}; ${name}${owner}; ${expiry}.`,
    `Running servers apply it ${KeyCommand.NOTICE}.`
  ].join("\n")
}
