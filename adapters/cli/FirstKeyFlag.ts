/** `--first-key` and `--no-first-key`: whether the first start on an empty database issues a key. */
import * as Option from "effect/Option"
import * as Setting from "./Setting.ts"

/** The flag. If it is absent, `isWanted` decides by the kind of output. */
export const firstKey = Setting.preference(
  "first-key",
  "Issue a Free key if the database has no key, and print it; --no-first-key issues none. Default: only if standard output is a terminal, or with --json."
)

/**
 * Whether to issue the first key: the value of the flag; without it, true if standard output is a terminal or JSON.
 * A log that collects standard output must not contain the secret, but a program that reads `--json` expects it.
 */
export const isWanted = (
  flag: Option.Option<boolean>,
  output: { readonly isTerminal: boolean; readonly json: boolean }
): boolean => Option.getOrElse(flag, () => output.isTerminal || output.json)
