/** HTTP on the wire: requests are sent unchanged, and responses are returned unchanged. */
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"

/** Name and value as on the wire; comparison of names ignores case. */
export type Header = readonly [name: string, value: string]

export interface WireRequest {
  readonly method: string
  /** Request target in origin form: path and query exactly as sent. */
  readonly target: string
  readonly headers: ReadonlyArray<Header>
  readonly body: Uint8Array | undefined
}

export interface WireResponse {
  readonly status: number
  readonly headers: ReadonlyArray<Header>
  readonly body: Uint8Array
}

/** No complete response: the connection failed, time ran out, or the response exceeds a limit. */
export class NoResponse extends Data.TaggedError("NoResponse")<{
  readonly kind: "timeout" | "connection" | "excess"
  readonly reason: string
  /** Whether a response had begun: the subject is then reachable, and its response is wrong. */
  readonly hasBegun?: boolean
}> {
  override get message(): string {
    return this.reason
  }
}

/** Sends one request to the subject and returns its response, in bounded time. */
export type Transport = (request: WireRequest) => Effect.Effect<WireResponse, NoResponse>

/** The values of a header, in the order received. */
export const headerValues = (
  { headers }: Pick<WireResponse, "headers">,
  name: string
): ReadonlyArray<string> => {
  const wanted = name.toLowerCase()
  return headers.filter(([given]) => given.toLowerCase() === wanted).map(([, value]) => value)
}

/** The value of a header that was received once; `undefined` when it is absent or repeated. */
export const header = (response: Pick<WireResponse, "headers">, name: string): string | undefined => {
  const values = headerValues(response, name)
  return values.length === 1 ? values[0] : undefined
}

// JSON on a network has no byte order mark (RFC 8259 §8.1), so a mark must stay visible to the parser.
const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true })

/** A body as text, for people. */
export const text = (body: Uint8Array | undefined): string => (body === undefined ? "" : decoder.decode(body))

/** Text as the bytes of a body. */
export const bytes = (content: string): Uint8Array => new TextEncoder().encode(content)
