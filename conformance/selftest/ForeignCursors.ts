/**
 * Wraps the real server and encodes its cursors with characters that have a meaning in a query: `+`, `/`, `=`, `%` and
 * a space.
 */
import * as Effect from "effect/Effect"
import * as RequestTarget from "../http/RequestTarget.ts"
import type { Transport } from "../http/Wire.ts"

/** The prefix of each cursor. */
const MARK = "+/= %"

/** XORed with each byte of a cursor, so that all base64 characters occur. */
const MASK = 0xfb

const mask = (text: Uint8Array): Buffer => Buffer.from(text.map((byte) => byte ^ MASK))

/** Encodes a cursor of the real server. */
const encode = (cursor: string): string => MARK + mask(Buffer.from(cursor)).toString("base64")

/** Decodes a cursor; `undefined` if this server never sent it. */
const decode = (cursor: string): string | undefined => {
  const text = mask(Buffer.from(cursor.slice(MARK.length), "base64")).toString("latin1")
  return encode(text) === cursor ? text : undefined
}

/** Escapes only what a query requires: `/` and `=` stay, and a space becomes `+`. */
const escaped = (cursor: string): string =>
  encodeURIComponent(cursor).replaceAll("%2F", "/").replaceAll("%3D", "=").replaceAll("%20", "+")

/** Decodes a form-encoded value; `undefined` if it is malformed. */
const unescaped = (value: string): string | undefined => {
  try {
    return decodeURIComponent(value.replaceAll("+", " "))
  } catch {
    return undefined
  }
}

/** Returns the same server with encoded cursors. */
export const disguise =
  (transport: Transport): Transport =>
  (request) => {
    const given = RequestTarget.parameter(request.target, "cursor")
    const cursor = given === undefined ? undefined : decode(unescaped(given) ?? "")
    const target =
      given === undefined
        ? request.target
        : RequestTarget.withParameter(request.target, "cursor", cursor ?? "foreign")
    return Effect.map(transport({ ...request, target }), (response) => ({
      ...response,
      headers: response.headers.map(([name, value]) => [
        name,
        name.toLowerCase() === "link"
          ? value.replace(/(?<=[?&]cursor=)[^&>]*/g, (real) => escaped(encode(decodeURIComponent(real))))
          : value
      ])
    }))
  }
