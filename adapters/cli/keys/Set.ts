/** `animal-store keys set`: changes the plan, limits, label or expiry of a key. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Plan from "../../../core/limits/Plan.ts"
import type { ApiKey, KeyChange } from "../../embed/index.ts"
import * as KeyRecord from "../../embed/KeyRecord.ts"
import * as Failure from "../Failure.ts"
import * as IssueKeyFlag from "../IssueKeyFlag.ts"
import { printable } from "../Printable.ts"
import * as Setting from "../Setting.ts"
import * as KeyCommand from "./KeyCommand.ts"
import * as KeyText from "./KeyText.ts"

/** Changes the given fields of a key; fails if no field is given. */
export const set = Command.make(
  "set",
  {
    id: KeyCommand.keyId,
    plan: Setting.make(
      "plan",
      Plan.names.join("|"),
      `New plan, with its limits; unchanged if absent; ${Plan.agreed} requires both limits; ${IssueKeyFlag.OWN_PLAN}.`,
      IssueKeyFlag.parsePlan
    ).pipe(Flag.optional),
    perMinute: KeyCommand.perMinute("New limit per minute. Default: unchanged."),
    perDay: KeyCommand.perDay("New limit per day. Default: unchanged."),
    label: Setting.make(
      "label",
      "TEXT",
      "New name for operators; an empty string removes it. Default: unchanged.",
      (text): Result.Result<string | null, string> =>
        text === "" ? Result.succeed(null) : KeyCommand.parseLabel(text)
    ).pipe(Flag.optional),
    expires: KeyCommand.expires(
      0,
      "Time from now after which the key expires, such as 90d; 0 means immediately. Default: unchanged."
    ),
    ...KeyCommand.flags
  },
  Effect.fn("keys set")(function* (flags) {
    const { expires, label, perDay, perMinute, plan } = flags
    const given: ReadonlyArray<Option.Option<unknown>> = [expires, label, perDay, perMinute, plan]
    if (given.every(Option.isNone)) {
      return yield* Effect.fail(
        Failure.userError(
          new Error("pass at least one of --plan, --per-minute, --per-day, --label and --expires")
        )
      )
    }
    const named = Option.getOrUndefined(plan)
    const change: KeyChange = {
      plan: named?.plan,
      limits: { perMinute: Option.getOrUndefined(perMinute), perDay: Option.getOrUndefined(perDay) },
      label: Option.getOrUndefined(label),
      expires: Option.getOrUndefined(expires)
    }
    const store = yield* KeyCommand.open({ ...flags, plans: named?.plans })
    const key = yield* Failure.attempt(() => store.keys.set(flags.id, change))
    yield* KeyCommand.print(flags, KeyRecord.make(key), textOf(key))
  }, Effect.scoped)
).pipe(
  Command.withDescription(
    "Change the plan, limits, label or expiry of a key. Its secret and usage are kept; lower limits also apply to past usage."
  )
)

const textOf = ({ expiresAt, id, label, limits, plan }: ApiKey): string => {
  const name = label === undefined ? "no label" : `label ${printable(label)}`
  const expiry = expiresAt === undefined ? "never expires" : `expires at ${KeyText.time(expiresAt)}`
  return [
    `${id} is on the ${plan} plan with ${KeyText.limits(limits)}; ${name}; ${expiry}.`,
    `Running servers apply it ${KeyCommand.NOTICE}.`
  ].join("\n")
}
