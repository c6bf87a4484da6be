/** Lists headers of requests that the contract does not describe. */
import type { Header } from "../http/Wire.ts"
import { words } from "./Words.ts"

/** Splits lines such as `Name:value`. */
const headers = (lines: ReadonlyArray<string>): ReadonlyArray<Header> =>
  lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1)])

export const accepts = headers([
  ...words("Accept:application/json Accept:*/* Accept:application/*"),
  "Accept:text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
  "Accept:text/csv, application/json;q=0.1",
  ...words("Accept:text/html Accept:application/json;q=0 Accept:nonsense")
])

/** Headers that change nothing, or that servers may understand. */
export const others = headers([
  ...words(`If-None-Match:* If-Match:"x" Range:bytes=0-1 Range:items=0-0 Origin:https://example.org`),
  ...words("Access-Control-Request-Method:POST X-Forwarded-For:203.0.113.9 X-Forwarded-Host:example.org"),
  ...words("X-Forwarded-Proto:https X-Real-IP:203.0.113.9 Forwarded:for=203.0.113.9 X-Debug:1 DNT:1"),
  ...words("X-HTTP-Method-Override:DELETE X-Method-Override:POST X-Original-URL:/nothing Cookie:a=b"),
  ...words("X-Request-Id:of-the-client Idempotency-Key:1 Prefer:return=minimal Cache-Control:no-cache"),
  ...words("Accept-Language:de Accept-Charset:iso-8859-1 User-Agent:curl/8.0 Connection:close"),
  ...["X-API-Key:nonsense", "Accept-Encoding:gzip, br"],
  "If-Modified-Since:Thu, 01 Jan 2099 00:00:00 GMT",
  "If-Unmodified-Since:Thu, 01 Jan 1970 00:00:01 GMT"
])
