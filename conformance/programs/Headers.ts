/** Lists headers of requests that the contract does not describe. */
import type { Header } from "../http/Wire.ts"

const lines = (text: string): ReadonlyArray<Header> =>
  [...text.matchAll(/^ *(\S+): (.*)$/gm)].map(([, name = "", value = ""]) => [name, value])

/** Values of `Accept` that allow JSON. */
const allowing = lines(`
  Accept: application/json
  Accept: */*
  Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8
  Accept: text/csv, application/json;q=0.1
  Accept: application/*`)

export const accepts = [
  ...allowing,
  ...lines(`
  Accept: text/html
  Accept: application/json;q=0
  Accept: nonsense`)
]

/** No header, and those that change nothing. */
export const harmless: ReadonlyArray<ReadonlyArray<Header>> = [[], ...allowing.map((header) => [header])]

/** Headers that change nothing, or that servers may understand. */
export const others = lines(`
  If-None-Match: *
  If-Modified-Since: Thu, 01 Jan 2099 00:00:00 GMT
  If-Match: "x"
  If-Unmodified-Since: Thu, 01 Jan 1970 00:00:01 GMT
  Range: bytes=0-1
  Range: items=0-0
  Origin: https://example.org
  Access-Control-Request-Method: POST
  X-Forwarded-For: 203.0.113.9
  X-Forwarded-Host: example.org
  X-Forwarded-Proto: https
  X-Real-IP: 203.0.113.9
  Forwarded: for=203.0.113.9
  X-HTTP-Method-Override: DELETE
  X-Method-Override: POST
  X-Original-URL: /nothing
  X-Request-Id: of-the-client
  Idempotency-Key: 1
  Prefer: return=minimal
  Cache-Control: no-cache
  Accept-Encoding: gzip, br
  Accept-Language: de
  Accept-Charset: iso-8859-1
  User-Agent: curl/8.0
  Connection: close
  Cookie: a=b
  X-API-Key: nonsense
  X-Debug: 1
  DNT: 1`)
