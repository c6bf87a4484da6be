/** An answer as the pipeline gives it; the host adds what frames it on its connection. */

/** A field of an answer. */
export type Header = readonly [name: string, value: string]

/** One answer; the service makes it, a host writes it. */
export interface ServiceResponse {
  readonly status: number
  /** In the order to send; a name may occur twice. `Content-Length` and connection headers are the host's. */
  readonly headers: ReadonlyArray<Header>
  /** Empty when there is none. For `HEAD` it is what `GET` would carry: the host sends its length, not its text. */
  readonly body: string
  /** Bytes of this very `body` in UTF-8, where they are known: a host need not count them, which makes V8 copy long texts. */
  readonly bodyBytes?: number | undefined
}

/** An answer that may know its bytes. A copy with another body, `{ ...answer, body }`, does not: a getter is not copied. */
export class CountedResponse implements ServiceResponse {
  readonly status: number
  readonly headers: ReadonlyArray<Header>
  readonly body: string
  readonly #bodyBytes: number | undefined

  constructor(status: number, headers: ReadonlyArray<Header>, body: string, bodyBytes: number | undefined) {
    this.status = status
    this.headers = headers
    this.body = body
    this.#bodyBytes = bodyBytes
  }

  get bodyBytes(): number | undefined {
    return this.#bodyBytes
  }
}
