/** Writes a request as one `curl` command for bash, with variables instead of keys. */
import { isUtf8 } from "node:buffer"
import type { WireRequest } from "../http/Wire.ts"
import * as KeyText from "./KeyText.ts"

/** Maximum size in bytes of a body in a command; a larger one can be sent with `replay`. */
const MAX_BODY = 8_000

/** The character `@`, after which curl expects the name of a file. */
const AT = 0x40

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

/** Returns the command; `undefined` if it would contain a key, or a body that is too large. */
export const command = (
  { body, headers, method, target }: WireRequest,
  origin: string,
  secrets: KeyText.Secrets
): string | undefined => {
  if ((body?.length ?? 0) > MAX_BODY) return undefined
  const isHead = method === "HEAD"
  const hasBody = body !== undefined || /^(?:POST|PUT|PATCH)$/.test(method)
  const usualMethod = isHead ? "HEAD" : hasBody ? "POST" : "GET"
  const hasType = headers.some(([name]) => name.toLowerCase() === "content-type")
  const content = Buffer.from(body ?? [])
  const isText = isUtf8(content) && plain.test(content.toString()) && content[0] !== AT
  const option = (flag: string, text: string) => {
    const value = word(text, secrets)
    return value && `${flag} ${value}`
  }
  const parts = [
    ...(isText || !hasBody ? [] : [`printf ${printfFormat(content)} |`]),
    isHead ? "curl -I" : "curl -i",
    ...(/[[\]{}]/.test(target) ? ["-g"] : []),
    ...(/\/\.{1,2}(?:\/|$)/.test(target) ? ["--path-as-is"] : []),
    ...(method === usualMethod ? [] : [`-X ${quoted(method)}`]),
    ...headers.map(([name, value]) => option("-H", value === "" ? `${name};` : `${name}: ${value}`)),
    // Without this, curl adds a content type of its own.
    ...(hasBody && !hasType ? ["-H Content-Type:"] : []),
    ...(hasBody ? [isText ? option("--data-binary", content.toString()) : "--data-binary @-"] : []),
    word(origin + target, secrets)
  ]
  return parts.includes(undefined) ? undefined : parts.join(" ")
}
