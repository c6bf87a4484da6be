/** Parses the fields of draft-ietf-httpapi-ratelimit-headers: structured lists (RFC 9651) with integer parameters. */
import { headerValues, type WireResponse } from "./Wire.ts"

/** An item of `RateLimit` or `RateLimit-Policy`. */
export interface Item {
  /** The name of its policy. */
  readonly policy: string
  /** Its parameters that are integers, such as `q`, `w`, `r` and `t`. */
  readonly numbers: ReadonlyMap<string, number>
}

const string = '"((?:[ !#-[\\]-~]|\\\\["\\\\])*)"'
const bareItem = `(?:-?[0-9]{1,15}(?:\\.[0-9]{1,3})?|${string.replace("((", "(?:(")}|:[A-Za-z0-9+/=]*:|\\?[01]|[A-Za-z*][^\\s;,"()]*)`
const item = new RegExp(`[ \\t]*${string}((?:;[ ]*[a-z*][a-z0-9_.*-]*(?:=${bareItem})?)*)[ \\t]*(,|$)`, "y")

/**
 * Returns the items of a field, which may be sent in several lines. Returns an empty array if the field is absent, and
 * `undefined` if it is not a list of named policies.
 */
export const itemsOf = (
  response: Pick<WireResponse, "headers">,
  name: "RateLimit" | "RateLimit-Policy"
): ReadonlyArray<Item> | undefined => {
  const text = headerValues(response, name).join(", ")
  const items: Array<Item> = []
  let at = 0
  while (at < text.length) {
    item.lastIndex = at
    const [all, policy = "", parameters = "", end] = item.exec(text) ?? []
    // A comma must be followed by an item.
    if (all === undefined || (end === "," && at + all.length === text.length)) return undefined
    const numbers = [...parameters.matchAll(/;[ ]*([a-z*][a-z0-9_.*-]*)=(-?[0-9]+)(?=;|$)/g)]
    items.push({ policy, numbers: new Map(numbers.map(([, key = "", value]) => [key, Number(value)])) })
    at += all.length
  }
  return items
}
