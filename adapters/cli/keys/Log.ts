/** `animal-store keys log`: lists the recorded actions on keys. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as KeyStatus from "../../../core/access/KeyStatus.ts"
import type { KeyEvent, ValueChange } from "../../embed/index.ts"
import { printable } from "../Printable.ts"
import * as KeyCommand from "./KeyCommand.ts"
import * as KeyText from "./KeyText.ts"

/** Prints the recorded actions on one key or on all keys, oldest first. */
export const log = Command.make(
  "log",
  { id: Argument.optional(KeyCommand.keyId), ...KeyCommand.flags },
  Effect.fn("keys log")(function* (flags) {
    const events = yield* KeyCommand.read(flags, KeyStatus.log(Option.getOrUndefined(flags.id)))
    const text = events.length === 0 ? "Nothing is recorded." : events.map(lineOf).join("\n")
    yield* KeyCommand.print(flags, events, text)
  }, Effect.scoped)
).pipe(
  Command.withDescription(
    "List the recorded actions of administrators on all keys or on one key, oldest first."
  )
)

const lineOf = ({ action, actor, at, changes, keyId }: KeyEvent): string => {
  const details = Object.entries(changes).map(([field, change]) => `${field} ${changeText(field, change)}`)
  const summary = `${KeyText.time(at)}  ${printable(actor)}  ${action} ${keyId}`
  return details.length === 0 ? summary : `${summary}: ${details.join(", ")}`
}

const changeText = (field: string, { from, to }: ValueChange): string =>
  from === null ? valueText(field, to) : `${valueText(field, from)} → ${valueText(field, to)}`

/** Formats a value of a field. Fields whose names end in `At` or `Until` are times. */
const valueText = (field: string, value: string | number | null): string => {
  if (value === null) return "none"
  if (typeof value === "string") return printable(JSON.stringify(value))
  return /(At|Until)$/.test(field) ? KeyText.time(value) : String(value)
}
