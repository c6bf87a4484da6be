/** Writes a request as one `curl` command for bash, with variables instead of keys. */
import type { WireRequest } from "../http/Wire.ts"
import * as KeyText from "./KeyText.ts"

/** Maximum size in bytes of a body in a command; a larger one can be sent with `replay`. */
const MAX_BODY = 8_000

/** Matches text that a word in quotes can contain unchanged. */
const plain = /^[ -~\u00a0-\ud7ff\ue000-\ufffd]*$/

/** Quotes literal text for the shell. */
const quoted = (content: string): string =>
  /^[\w/:=.,@%+-]+$/.test(content) ? content : `'${content.replaceAll("'", "'\\''")}'`

/** Returns a format for `printf` that writes bytes. */
const printfFormat = (body: Uint8Array): string =>
  `'${Buffer.from(body)
    .toString("latin1")
    .replace(/^-|%|[^ !"$&(-[\]-~]/g, (unit) =>
      unit === "%" ? "%%" : `\\${unit.charCodeAt(0).toString(8).padStart(3, "0")}`
    )}'`

/** Returns a word of the shell; `undefined` if no variable can stand for a part of a key in it. */
const word = (content: string, secrets: KeyText.Secrets): string | undefined => {
  const text = KeyText.of(content, secrets)
  if (text === content)
    return plain.test(content) ? quoted(content) : `"$(printf ${printfFormat(Buffer.from(content))})"`
  const written = KeyText.inBash(text)
  return written !== undefined && plain.test(written) ? `"${written}"` : undefined
}

/**
 * Returns the command; `undefined` if it would contain a key, or a body that is too large.
 *
 * @example
 * ```ts
 * command(request, "http://127.0.0.1:3000", { main: key })
 * // curl -i -H "Authorization: Bearer $KEY" 'http://127.0.0.1:3000/v1/pets?limit=1'
 * ```
 */
export const command = (
  { body, headers, method, target }: WireRequest,
  origin: string,
  secrets: KeyText.Secrets
): string | undefined => {
  if ((body?.length ?? 0) > MAX_BODY) return undefined
  const isHead = method === "HEAD"
  const hasBody = body !== undefined || /^(?:POST|PUT|PATCH)$/.test(method)
  const hasType = headers.some(([name]) => name.toLowerCase() === "content-type")
  const lines = [
    ...headers.map(([name, value]) => word(value === "" ? `${name};` : `${name}: ${value}`, secrets)),
    // Without this, curl adds a content type of its own.
    ...(hasBody && !hasType ? ["Content-Type:"] : [])
  ].map((header) => header && `-H ${header}`)
  const content = Buffer.from(body ?? [])
  const decoded = content.toString()
  const isText = content.equals(Buffer.from(decoded)) && plain.test(decoded) && !decoded.startsWith("@")
  const data = isText ? word(decoded, secrets) : "@-"
  const url = word(origin + target, secrets)
  const parts = [
    isText || !hasBody ? undefined : `printf ${printfFormat(content)} |`,
    isHead ? "curl -I" : "curl -i",
    /[[\]{}]/.test(target) ? "-g" : undefined,
    /\/\.{1,2}(?:\/|$)/.test(target) ? "--path-as-is" : undefined,
    method === "GET" && !hasBody
      ? undefined
      : isHead || (method === "POST" && hasBody)
        ? undefined
        : `-X ${quoted(method)}`,
    ...lines,
    hasBody ? `--data-binary ${data}` : undefined,
    url
  ]
  return url === undefined || lines.includes(undefined) || (hasBody && data === undefined)
    ? undefined
    : parts.filter((part) => part !== undefined).join(" ")
}
