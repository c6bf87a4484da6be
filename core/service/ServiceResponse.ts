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
  /** Bytes of `body` in UTF-8, where they are known already: to count them takes more time than to send them. */
  readonly bodyBytes?: number | undefined
}
