/**
 * Serves a clock that conformance tests advance over HTTP: `GET /clock` and `POST /clock/advance {"ms":n}`, which
 * both return `{"now":ms}`. It does not affect the system clock; the server listens on the loopback address.
 */
import type * as Http from "node:http"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as AuxiliaryServer from "./AuxiliaryServer.ts"

const MAX_BODY_LENGTH = 1_024

/** The end of the year 9999 in epoch milliseconds: the last date that HTTP can represent. */
const MAX_NOW = 253_402_300_799_999

const Advance = Schema.fromJsonString(
  Schema.Struct({ ms: Schema.Int.check(Schema.makeFilter((ms: number) => ms >= 0)) })
)
const decodeAdvance = Schema.decodeUnknownOption(Advance)

/** A clock that can be advanced ahead of the system clock. */
export interface TestClock {
  /** Epoch milliseconds: the system time plus all advances. */
  readonly now: () => number
  readonly advance: (ms: number) => void
}

/** Creates a clock that equals the system clock until it is advanced. */
export const make = (): TestClock => {
  let offset = 0
  return {
    now: () => Date.now() + offset,
    advance: (ms) => {
      offset += ms
    }
  }
}

/** Serves `clock` on 127.0.0.1 until the scope closes; port 0 chooses a free port. */
export const serve = (
  clock: TestClock,
  port: number
): Effect.Effect<AddressInfo, AuxiliaryServer.AuxiliaryServerUnbound, Scope.Scope> =>
  AuxiliaryServer.serve({ flag: "test-clock-port", host: "127.0.0.1", port }, (request, response) =>
    respond(clock, request, response)
  )

const respond = async (
  clock: TestClock,
  request: Http.IncomingMessage,
  response: Http.ServerResponse
): Promise<void> => {
  const send = (status: number, body: object): void => {
    response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body))
  }
  const operation = `${request.method} ${request.url}`
  if (operation === "GET /clock") return send(200, { now: clock.now() })
  if (operation !== "POST /clock/advance") {
    return send(404, { message: "the paths are GET /clock and POST /clock/advance" })
  }
  // A body that is too long or has no Content-Length is not read.
  const isReadable = Number(request.headers["content-length"]) <= MAX_BODY_LENGTH
  const advance = decodeAdvance(isReadable ? await text(request).catch(() => "") : "")
  if (advance._tag === "None" || clock.now() + advance.value.ms > MAX_NOW) {
    return send(400, {
      message: 'expected {"ms":n} and its Content-Length, with n a whole number of milliseconds, 0 or more'
    })
  }
  clock.advance(advance.value.ms)
  send(200, { now: clock.now() })
}
