/** Shows the progress of a command in one terminal line; prints nothing if standard error is not a terminal. */
import * as Effect from "effect/Effect"

export interface StatusLine {
  readonly show: (line: string) => void
  readonly end: Effect.Effect<void>
}

export const make = (): StatusLine => {
  const { stderr } = process
  const show = (line: string): void => {
    if (stderr.isTTY) stderr.write(`\r\u001b[2K${line.slice(0, stderr.columns - 1)}`)
  }
  return { show, end: Effect.sync(() => show("")) }
}
