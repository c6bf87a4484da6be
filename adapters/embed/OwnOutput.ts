/** Checks what an operation of a host returns. */
import * as Options from "../../core/options/Options.ts"
import type { OperationOutput } from "./OwnOperation.ts"

/** Headers that only the service or its host sets. */
const reserved: ReadonlySet<string> = new Set([
  "access-control-allow-origin",
  "cache-control",
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "date",
  "keep-alive",
  "ratelimit",
  "ratelimit-policy",
  "retry-after",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "x-content-type-options",
  "x-ratelimit-limit",
  "x-ratelimit-remaining",
  "x-ratelimit-reset",
  "x-request-id"
])

/** Returns what is wrong, such as "the status 404"; `undefined` if the response can be sent. */
export const problemOf = (
  { body, headers = {}, status }: { readonly [field in keyof OperationOutput]: unknown },
  hasBody: boolean
): string | undefined => {
  if (status !== undefined && !isSuccess(status)) return `the status ${status}, which is not from 200 to 299`
  if (hasBody && isEmpty(status)) return `the status ${status}, which has no body`
  if (!hasBody && body !== undefined) return "a body, which `success` does not declare"
  if (!Options.isRecord(headers)) return "headers that are no object with texts"
  const invalid = Object.entries(headers).find(([name, value]) => !isHeader(name, value))
  return invalid === undefined ? undefined : `the header ${JSON.stringify(invalid[0])}, which cannot be sent`
}

/** Returns whether responses with this status have no body (RFC 9110 §15.3.5, §15.3.6). */
export const isEmpty = (status: unknown): boolean => status === 204 || status === 205

const isSuccess = (status: unknown): boolean =>
  Number.isInteger(status) && Number(status) >= 200 && Number(status) <= 299

const isHeader = (name: string, value: unknown): boolean =>
  /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) &&
  !reserved.has(name.toLowerCase()) &&
  typeof value === "string" &&
  /^[\t\x20-\x7e\x80-\xff]*$/.test(value)
