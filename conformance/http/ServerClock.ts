/** Reads and moves the test clock of a subject over HTTP: `GET /clock` and `POST /clock/advance`. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { excerpt } from "./Printable.ts"
import { bytes, NoResponse, type Transport, text, type WireRequest } from "./Wire.ts"

export interface ServerClock {
  /** Whether the clock is in this process, so that reading it costs nothing. */
  readonly isLocal?: boolean
  /** The time of the clock in epoch ms. */
  readonly now: Effect.Effect<number, NoResponse>
  /** Moves the clock forward by a whole number of ms, and returns the new time in epoch ms. */
  readonly advance: (ms: number) => Effect.Effect<number, NoResponse>
}

const Reading = Schema.fromJsonString(Schema.Struct({ now: Schema.Finite }))
const decodeReading = Schema.decodeUnknownEffect(Reading)

/** Creates a client of the clock at `path`, such as `/clock`; it fails with `NoResponse` for a wrong response. */
export const make = (transport: Transport, path: string): ServerClock => {
  const read = (request: WireRequest): Effect.Effect<number, NoResponse> =>
    Effect.flatMap(transport(request), ({ body, status }) => {
      if (status !== 200)
        return failure(`responds to ${request.method} ${request.target} with status ${status}`)
      return Effect.catch(
        Effect.map(decodeReading(text(body)), ({ now }) => now),
        () => failure(`responds to ${request.method} with ${JSON.stringify(excerpt(body, 80))}`)
      )
    })
  return {
    now: read({ method: "GET", target: path, headers: [], body: undefined }),
    advance: (ms) =>
      read({
        method: "POST",
        target: `${path}/advance`,
        headers: [["Content-Type", "application/json"]],
        body: bytes(JSON.stringify({ ms }))
      })
  }
}

const failure = (what: string): Effect.Effect<never, NoResponse> =>
  Effect.fail(new NoResponse({ kind: "connection", reason: `the clock ${what}; expected {"now":<ms>}` }))
