/** HTTP as the suite speaks it: what is sent is sent as it is, and what comes is kept as it came. */
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"

/** Name and value as on the wire; names are compared without regard to case. */
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

/** No response: the connection failed, time ran out, or the response exceeds a limit. */
export class NoAnswer extends Data.TaggedError("NoAnswer")<{
  readonly kind: "timeout" | "connection" | "excess"
  readonly reason: string
  /** Whether a response had begun: the subject is there, and what it sent is at fault. */
  readonly hasBegun?: boolean
}> {
  override get message(): string {
    return this.reason
  }
}

/** Sends one request to the subject and returns its response, in bounded time. */
export type Transport = (request: WireRequest) => Effect.Effect<WireResponse, NoAnswer>

/** The values of a header, in the order in which they came. */
export const headerValues = (
  { headers }: Pick<WireResponse, "headers">,
  name: string
): ReadonlyArray<string> => {
  const wanted = name.toLowerCase()
  return headers.filter(([given]) => given.toLowerCase() === wanted).map(([, value]) => value)
}

/** The value of a header that came once; `undefined` when it came never or several times. */
export const header = (response: Pick<WireResponse, "headers">, name: string): string | undefined => {
  const values = headerValues(response, name)
  return values.length === 1 ? values[0] : undefined
}

// JSON sent over a network has no byte order mark (RFC 8259 §8.1): it must stay to be seen.
const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true })

/** A body as text, for people. */
export const text = (body: Uint8Array | undefined): string => (body === undefined ? "" : decoder.decode(body))

/** Text as the bytes of a body. */
export const bytes = (content: string): Uint8Array => new TextEncoder().encode(content)
