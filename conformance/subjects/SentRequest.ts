/** Defines requests as programs send them, and describes them in one line, without keys and values derived from them. */
import { isUtf8 } from "node:buffer"
import { visible } from "../http/Printable.ts"
import { type Header, text, type WireRequest } from "../http/Wire.ts"
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
export const bodyText = (body: Uint8Array): string =>
  isUtf8(body)
    ? text(body)
    : Buffer.from(body)
        .toString("latin1")
        .replace(/[^ -~]/g, (unit) => `\\x${unit.charCodeAt(0).toString(16).padStart(2, "0")}`)

const show = (content: string, secrets: KeyText.Secrets): string =>
  visible(shortened(condensed(KeyText.of(content, secrets))))

/** Describes a request below the base path. The main key and `Content-Type: application/json` are omitted. */
export const describe = (
  { body, headers, method, target }: WireRequest,
  basePath: string,
  secrets: KeyText.Secrets
): string => {
  const shown = headers.map(([name, value]) => `${name}: ${show(value, secrets)}`)
  const credentials = headers.filter(([name]) => name === "Authorization").length
  const key = /^Authorization: Bearer ‹key:([a-z]+)›$/
  const details = [
    ...(credentials === 0 ? ["no key"] : []),
    ...shown.map((header) => (credentials === 1 ? header.replace(key, "$1 key") : header))
  ].filter((each) => each !== "main key" && !/^content-type: application\/json$/i.test(each))
  return [
    `${method} ${show(target.slice(basePath.length), secrets)}`,
    ...(body === undefined ? [] : [show(bodyText(body), secrets)]),
    ...(details.length === 0 ? [] : [`(${details.join(", ")})`])
  ].join(" ")
}
