/** `animal-store keys show`: shows a key and its usage. */
import * as Clock from "effect/Clock"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as KeyStatus from "../../../core/access/KeyStatus.ts"
import type { CountPer } from "../../../core/limits/CountPer.ts"
import { printable } from "../Printable.ts"
import * as KeyCommand from "./KeyCommand.ts"
import * as KeyRecord from "./KeyRecord.ts"
import * as KeyText from "./KeyText.ts"

/** Prints the plan, the state and the dates of a key, and its current usage. */
export const show = Command.make(
  "show",
  { id: KeyCommand.keyId, ...KeyCommand.flagsWithPlans },
  Effect.fn("keys show")(function* (flags) {
    const key = yield* KeyCommand.read(flags, KeyStatus.show(flags.id))
    const now = yield* Clock.currentTimeMillis
    const { bannedUntil = null, ...usage } = key.usage
    yield* KeyCommand.print(
      flags,
      { ...KeyRecord.make(key), ...usage, bannedUntil },
      [textOf(key, now, flags.countPer), ...KeyText.unknownPlans([key], flags.plans)].join("\n")
    )
  }, Effect.scoped)
).pipe(Command.withDescription("Show a key: plan, dates and current usage."))

const textOf = (key: KeyStatus.KeyStatus, now: number, countPer: CountPer): string => {
  const { bannedUntil, day, minute, strikes } = key.usage
  const lines = [
    ["State", KeyText.state(key, now)],
    ["Plan", `${key.plan}: ${KeyText.limits(key.limits)}`],
    ["Label", key.label === undefined ? "none" : printable(key.label)],
    ["Account", key.account === undefined ? "none" : printable(key.account)],
    ["Metadata", key.metadata === undefined ? "none" : printable(JSON.stringify(key.metadata))],
    ["Created", KeyText.time(key.createdAt)],
    ["Expires", key.expiresAt === undefined ? "never" : KeyText.time(key.expiresAt)],
    ["Last seen", key.lastSeenDay === undefined ? "never" : KeyText.day(key.lastSeenDay)],
    [
      "Counted",
      countPer === "account" && key.account !== undefined ? "with all keys of its account" : "for itself"
    ],
    ["Minute", `${minute.remaining} of ${minute.limit} left, full at ${KeyText.time(minute.fullAt)}`],
    ["Day", `${day.used} of ${day.limit} used, ${day.remaining} left until ${KeyText.time(day.endsAt)}`],
    ["Strikes", String(strikes)],
    ["Banned", bannedUntil === undefined ? "no" : `until ${KeyText.time(bannedUntil)}`]
  ] as const
  return [key.id, ...lines.map(([name, text]) => `  ${name.padEnd(10)} ${text}`)].join("\n")
}
