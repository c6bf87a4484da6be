/** Parses the fields of draft-ietf-httpapi-ratelimit-headers: structured lists (RFC 9651) with integer parameters. */
import { headerValues, type WireResponse } from "./Wire.ts"

/** The parameters of each policy that are integers, such as `q`, `w`, `r` and `t`. */
export type Policies = ReadonlyMap<string, ReadonlyMap<string, number>>

const string = '"((?:[ !#-[\\]-~]|\\\\["\\\\])*)"'
const bareItem = `(?:-?[0-9]{1,15}(?:\\.[0-9]{1,3})?|${string.replace("((", "(?:(")}|:[A-Za-z0-9+/=]*:|\\?[01]|[A-Za-z*][^\\s;,"()]*)`
const item = new RegExp(`[ \\t]*${string}((?:;[ ]*[a-z*][a-z0-9_.*-]*(?:=${bareItem})?)*)[ \\t]*(,|$)`, "y")

/**
 * Returns the policies in a field, which may be sent in several lines. Returns an empty map if the field is absent, and
 * `undefined` if it is not a list of named policies.
 */
export const policiesIn = (
  response: Pick<WireResponse, "headers">,
  name: "RateLimit" | "RateLimit-Policy"
): Policies | undefined => {
  const text = headerValues(response, name).join(", ")
  const policies = new Map<string, ReadonlyMap<string, number>>()
  let at = 0
  while (at < text.length) {
    item.lastIndex = at
    const [all, policy = "", parameters = "", end] = item.exec(text) ?? []
    // A comma must be followed by an item.
    if (all === undefined || (end === "," && at + all.length === text.length)) return undefined
    const numbers = [...parameters.matchAll(/;[ ]*([a-z*][a-z0-9_.*-]*)=(-?[0-9]+)(?=;|$)/g)]
    policies.set(policy, new Map(numbers.map(([, key = "", value]) => [key, Number(value)])))
    at += all.length
  }
  return policies
}
