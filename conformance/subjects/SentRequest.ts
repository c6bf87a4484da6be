/** Defines requests as programs send them, and describes them in one line, without keys and values derived from them. */
import { visible } from "../http/Printable.ts"
import { type Header, text } from "../http/Wire.ts"
import * as KeyText from "./KeyText.ts"

/** A request below the base address. */
export interface Sent {
  /** `GET` when absent. */
  readonly method?: string
  /** Path and query after the base path, such as `/pets?limit=1`; sent unchanged. */
  readonly path: string
  /** The declared key that the request is sent with; `main` when absent. */
  readonly key?: KeyText.KeyName
  /** Values of `Authorization` instead of a declared key; an empty array sends none. */
  readonly authorization?: ReadonlyArray<string>
  /** Describes `authorization` in reports, which must not show values that are derived from a key. */
  readonly credential?: string
  readonly headers?: ReadonlyArray<Header>
  readonly body?: string | Uint8Array
  /** A body that is sent as `application/json`. */
  readonly json?: string
}

/** Maximum length of a path, body or header that is shown whole, in UTF-16 code units. */
const MAX_SHOWN = 600

/** Returns a long text without its middle, because its ends are what a violation is usually about. */
export const shortened = (content: string, length = MAX_SHOWN): string => {
  if (content.length <= length) return content
  const end = Math.floor(length / 2)
  return `${content.slice(0, end)}… (${content.length - 2 * end} more characters) …${content.slice(-end)}`
}

/** Writes a unit that is repeated many times as `‹a × 100›`. */
export const condensed = (content: string): string =>
  content.replace(/(.{1,6}?)\1{19,}/gsu, (all, unit: string) => `‹${unit} × ${all.length / unit.length}›`)

/** Decodes a body as UTF-8; shows each byte of another encoding as an escape. */
export const bodyText = (body: Uint8Array): string => {
  const decoded = text(body)
  return decoded.includes("\ufffd")
    ? Buffer.from(body)
        .toString("latin1")
        .replace(/[^ -~]/g, (unit) => `\\x${unit.charCodeAt(0).toString(16).padStart(2, "0")}`)
    : decoded
}

const show = (content: string, secrets: KeyText.Secrets): string =>
  visible(shortened(condensed(KeyText.of(content, secrets))))

/** Describes the credentials: nothing for the main key, another key, or the value of `Authorization`. */
const describeCredentials = (
  { authorization, credential, key = "main" }: Sent,
  secrets: KeyText.Secrets
): ReadonlyArray<string> => {
  if (credential !== undefined) return [`Authorization: ${credential}`]
  const [only] = authorization?.length === 1 ? authorization : []
  const sender =
    authorization === undefined ? key : KeyText.names.find((name) => only === `Bearer ${secrets[name] ?? ""}`)
  if (sender !== undefined && sender !== "other") {
    return sender === "main" ? [] : [sender === "none" ? "no key" : `${sender} key`]
  }
  if (authorization === undefined) return []
  return authorization.length === 0
    ? ["no Authorization"]
    : authorization.map((value) => `Authorization: ${show(value, secrets)}`)
}

/**
 * Describes a request. The header `Content-Type: application/json` is omitted.
 *
 * @example
 * ```ts
 * describe({ path: "/pets", authorization: ["Token x"] }, {}) // "GET /pets (Authorization: Token x)"
 * ```
 */
export const describe = (sent: Sent, secrets: KeyText.Secrets): string => {
  const { body, headers = [], json, method = "GET", path } = sent
  const content = json ?? (typeof body === "string" ? body : body && bodyText(body))
  const shown = content === undefined ? "" : ` ${show(content, secrets)}`
  const shownHeaders = headers
    .filter(([name, value]) => !(name.toLowerCase() === "content-type" && value === "application/json"))
    .map(([name, value]) => `${name}: ${show(value, secrets)}`)
  const details = [...describeCredentials(sent, secrets), ...shownHeaders]
  return `${method} ${show(path, secrets)}${shown}${details.length === 0 ? "" : ` (${details.join(", ")})`}`
}
