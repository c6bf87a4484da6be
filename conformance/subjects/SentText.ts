/** Describes a sent request in one line; API keys and values derived from them are redacted. */
import type { Sent } from "../evaluation/Http.ts"
import * as Excerpt from "../http/Excerpt.ts"
import type { KeyName } from "../http/Exchange.ts"
import { text } from "../http/Wire.ts"

export type Secrets = { readonly [name in KeyName]?: string | undefined }

/** Minimum length of a part of a secret that must not be shown. */
const PART_LENGTH = 5

/** Maximum length of a path, body or header that is shown, in UTF-16 code units. */
const MAX_SHOWN = 160

/** Whether a text contains a part of a secret or of its reverse, in any letter case. */
const reveals = (shown: string, secret: string): boolean => {
  if (secret === "") return false
  const folded = shown.toLowerCase()
  const whole = secret.toLowerCase()
  const size = Math.min(PART_LENGTH, whole.length)
  for (const spelling of [whole, [...whole].toReversed().join("")]) {
    for (let at = 0; at + size <= spelling.length; at++)
      if (folded.includes(spelling.slice(at, at + size))) return true
  }
  return false
}

const describeValue = (value: string, secrets: Secrets): string => {
  for (const [name, secret] of Object.entries(secrets)) {
    if (value === secret) return `‹key:${name}›`
    if (value === `Bearer ${secret}`) return `Bearer ‹key:${name}›`
  }
  return Object.values(secrets).some((secret) => secret !== undefined && reveals(value, secret))
    ? "‹made from a key›"
    : Excerpt.words(value, MAX_SHOWN)
}

/** Describes the credentials: nothing for the main key, another key, or the value of `Authorization`. */
const describeCredentials = (
  { authorization, credential, key = "main" }: Sent,
  secrets: Secrets
): ReadonlyArray<string> => {
  if (credential !== undefined) return [`Authorization: ${credential}`]
  if (authorization === undefined) return key === "main" ? [] : [key === "none" ? "no key" : `${key} key`]
  return authorization.length === 0
    ? ["no Authorization"]
    : authorization.map((value) => `Authorization: ${describeValue(value, secrets)}`)
}

/**
 * Describes a request. The header `Content-Type: application/json` is omitted.
 *
 * @example
 * ```ts
 * describe({ path: "/pets", authorization: ["Token x"] }, {}) // "GET /pets (Authorization: Token x)"
 * ```
 */
export const describe = (sent: Sent, secrets: Secrets): string => {
  const { body, headers = [], json, method = "GET", path } = sent
  const content = json ?? (typeof body === "string" ? body : body && text(body))
  const shown = content === undefined ? "" : ` ${Excerpt.words(content, MAX_SHOWN)}`
  const shownHeaders = headers
    .filter(([name, value]) => !(name.toLowerCase() === "content-type" && value === "application/json"))
    .map(([name, value]) => `${name}: ${describeValue(value, secrets)}`)
  const details = [...describeCredentials(sent, secrets), ...shownHeaders]
  return `${method} ${Excerpt.words(path, MAX_SHOWN)}${shown}${details.length === 0 ? "" : ` (${details.join(", ")})`}`
}
