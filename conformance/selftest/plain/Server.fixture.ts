/** Starts a plain server for tests, and parses its responses. */
import * as Effect from "effect/Effect"
import type { Header, WireRequest, WireResponse } from "../../http/Wire.ts"
import * as Wire from "../../http/Wire.ts"
import type { Choices } from "./Choices.ts"
import * as PlainServer from "./PlainServer.ts"

const start = Date.parse("2027-03-04T05:06:07.089Z")

/** Limits that no test reaches. */
export const plenty = { perMinute: 1_000_000, perDay: 1_000_000 }

interface Sent {
  readonly key?: string | undefined
  readonly headers?: ReadonlyArray<Header>
  readonly body?: string | Uint8Array
}

/** Creates a server with the keys `key`, `other` and `revoked`, and a clock that the test sets. */
export const serverOf = (choices: Partial<Choices> = {}, plan = plenty) => {
  const clock = { now: start }
  const keys = [
    { secret: "key", ...plan },
    { secret: "other", ...plan },
    { secret: "revoked", ...plan, isValid: false }
  ]
  const transport = PlainServer.make({ keys, now: () => clock.now, choices })
  const requestOf = (method: string, target: string, sent: Sent = {}): WireRequest => {
    const { body, headers = [] } = sent
    const key = "key" in sent ? sent.key : "key"
    const authorization: Header = ["Authorization", `Bearer ${key}`]
    return {
      method,
      target,
      headers: key === undefined ? headers : [...headers, authorization],
      body: typeof body === "string" ? Wire.bytes(body) : body
    }
  }
  const send = (method: string, target: string, sent?: Sent): WireResponse =>
    Effect.runSync(transport(requestOf(method, target, sent)))
  const create = (body: string, headers: ReadonlyArray<Header> = []) =>
    send("POST", "/v1/pets", { body, headers })
  return { clock, transport, requestOf, send, create }
}

export const json = (response: WireResponse): unknown => JSON.parse(Wire.text(response.body))
export const names = (response: WireResponse): ReadonlyArray<string> =>
  [...Wire.text(response.body).matchAll(/"name":\s*"([^"]*)"/g)].map(([, name]) => name ?? "")
export const digitsOf = (response: WireResponse, field: string): string =>
  new RegExp(`"${field}":\\s*(-?\\d+)`).exec(Wire.text(response.body))?.[1] ?? ""
export const numberIn = (response: WireResponse, name: string): number =>
  Number(Wire.header(response, name) ?? "x")
export const rex = '{"name":"Rex","categoryId":1}'

/** Sends a creation to a new server, and returns the response. */
export const created = (choices: Partial<Choices>, body: string, headers: ReadonlyArray<Header> = []) =>
  serverOf(choices).create(body, headers)
