/** Defines requests exactly as they are sent, responses exactly as they are received, and helpers to read them. */
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"

/** The name and the value of a header field as sent; comparisons of names ignore letter case. */
export type Header = readonly [name: string, value: string]

export interface WireRequest {
  readonly method: string
  /** Request target in origin form: path and query exactly as sent. */
  readonly target: string
  readonly headers: ReadonlyArray<Header>
  readonly body: Uint8Array | undefined
  /** Whether it needs a connection that no other request used. */
  readonly isAlone?: boolean
}

export interface WireResponse {
  readonly status: number
  readonly headers: ReadonlyArray<Header>
  readonly body: Uint8Array
}

/** A request and its response. */
export interface Responded {
  readonly request: WireRequest
  readonly response: WireResponse
}

/**
 * No complete response: the connection failed, the request timed out, or the response exceeded a limit; or this
 * transport cannot send the request as it is (`unsent`).
 */
export class NoResponse extends Data.TaggedError("NoResponse")<{
  readonly kind: "timeout" | "connection" | "excess" | "unsent"
  readonly reason: string
  /** Whether the subject had started a response: it is then reachable, and its response is wrong. */
  readonly hasBegun?: boolean
}> {
  override get message(): string {
    return this.reason
  }
}

/** Sends one request to the subject and returns its response, within a timeout. */
export type Transport = (request: WireRequest) => Effect.Effect<WireResponse, NoResponse>

/** Returns all values of a header, in the order received. */
export const headerValues = (
  { headers }: Pick<WireResponse, "headers">,
  name: string
): ReadonlyArray<string> => {
  const wanted = name.toLowerCase()
  return headers.filter(([given]) => given.toLowerCase() === wanted).map(([, value]) => value)
}

/** Returns the value of a header that was received once; `undefined` if it is absent or repeated. */
export const header = (response: Pick<WireResponse, "headers">, name: string): string | undefined => {
  const values = headerValues(response, name)
  return values.length === 1 ? values[0] : undefined
}

// JSON on a network has no byte order mark (RFC 8259 §8.1), so a mark must stay visible to the parser.
const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true })

/** Decodes a body as UTF-8; returns an empty string without a body. */
export const text = (body: Uint8Array | undefined): string => (body === undefined ? "" : decoder.decode(body))

/** Encodes text as the bytes of a body. */
export const bytes = (content: string): Uint8Array => new TextEncoder().encode(content)
