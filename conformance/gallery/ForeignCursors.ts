/**
 * A server whose cursors are full of characters that mean something in a query: `+`, `/`, `=`, `%` and a space. It is the
 * real one in disguise: each cursor is written another way.
 */
import * as Effect from "effect/Effect"
import * as RequestTarget from "../http/RequestTarget.ts"
import type { Transport } from "../http/Wire.ts"

/** What each cursor begins with, whatever it stands for. */
const MARK = "+/= %"

/** Makes base64 of plain letters and digits a mixture of all its characters. */
const MASK = 0xfb

const masked = (text: Uint8Array): Buffer => Buffer.from(text.map((byte) => byte ^ MASK))

/** A cursor of the real server as it is told to clients. */
const told = (cursor: string): string => MARK + masked(Buffer.from(cursor)).toString("base64")

/** The cursor of the real server; `undefined` for what this server never told anybody. */
const real = (cursor: string): string | undefined => {
  const text = masked(Buffer.from(cursor.slice(MARK.length), "base64")).toString("latin1")
  return told(text) === cursor ? text : undefined
}

/** As servers do that escape only what has to be: `/` and `=` may stand in a query, and a space may be `+`. */
const written = (cursor: string): string =>
  encodeURIComponent(cursor).replaceAll("%2F", "/").replaceAll("%3D", "=").replaceAll("%20", "+")

/** What a query means to a server that decodes forms; `undefined` where it means nothing. */
const meant = (value: string): string | undefined => {
  try {
    return decodeURIComponent(value.replaceAll("+", " "))
  } catch {
    return undefined
  }
}

/** The same server with other cursors. */
export const disguise =
  (transport: Transport): Transport =>
  (request) => {
    const given = RequestTarget.parameter(request.target, "cursor")
    const cursor = given === undefined ? undefined : real(meant(given) ?? "")
    const target =
      given === undefined
        ? request.target
        : RequestTarget.withParameter(request.target, "cursor", cursor ?? "foreign")
    return Effect.map(transport({ ...request, target }), (response) => ({
      ...response,
      headers: response.headers.map(([name, value]) => [
        name,
        name.toLowerCase() === "link"
          ? value.replace(/(?<=[?&]cursor=)[^&>]*/g, (link) => written(told(decodeURIComponent(link))))
          : value
      ])
    }))
  }
