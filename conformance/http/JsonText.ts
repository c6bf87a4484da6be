/** Reads from the text of a body what its parsed value no longer shows. */
import * as Result from "effect/Result"
import * as PetJson from "./PetJson.ts"

/** Whether the text begins with a complete JSON value, followed by other text. */
export const beginsWithValue = (content: string): boolean => {
  for (let end = content.search(/[}\]]/); end !== -1; ) {
    if (Result.isSuccess(PetJson.parse(content.slice(0, end + 1)))) return true
    const next = content.slice(end + 1).search(/[}\]]/)
    end = next === -1 ? -1 : end + 1 + next
  }
  return /^\s*(?:"[^"\\]*"|-?[0-9]+|true|false|null)\s/.test(content)
}

/** Counts the members with a name, also if it is written with escapes. */
export const count = (content: string, name: string): number =>
  content
    .replaceAll(/\\u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .split(`"${name}"`).length - 1

/** Whether a parsed number that is not read exactly may be an integer: one with an exponent. */
export const mayBeInteger = (value: unknown, content: string): boolean =>
  typeof value === "number" &&
  !(Math.abs(value) < 2 ** 53 && !Number.isInteger(value)) &&
  /[eE.]/.test(content)
