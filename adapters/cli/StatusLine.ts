/** Shows the progress of a command in one terminal line; prints nothing if standard error is not a terminal. */
import * as Effect from "effect/Effect"
import { Host } from "./Host.ts"

export interface StatusLine {
  readonly show: (line: string) => void
  readonly end: Effect.Effect<void>
}

const DEFAULT_COLUMNS = 80

/** A new status line on the standard error of the command. */
export const make: Effect.Effect<StatusLine> = Effect.map(Host, ({ stderr }) => {
  const show = (line: string): void => {
    if (stderr.isTTY !== true) return
    // A terminal of unknown size, such as a serial console, has 0 columns.
    const columns = stderr.columns !== undefined && stderr.columns > 0 ? stderr.columns : DEFAULT_COLUMNS
    stderr.write(`\r\u001b[2K${line.slice(0, columns - 1)}`)
  }
  return { show, end: Effect.sync(() => show("")) }
})
