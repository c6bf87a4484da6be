/**
 * A clock that conformance tests advance over HTTP: `GET /clock` and `POST /clock/advance {"ms":n}`, which both return
 * `{"now":ms}`. It does not affect the system clock; the listener is bound to the loopback address.
 */
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Setting from "./Setting.ts"

const MAX_BODY_LENGTH = 1_024

/** The end of the year 9999, the last date that HTTP can represent. */
const MAX_NOW = 253_402_300_799_999

const Advance = Schema.fromJsonString(
  Schema.Struct({ ms: Schema.Int.check(Schema.makeFilter((ms: number) => ms >= 0)) })
)
const decodeAdvance = Schema.decodeUnknownOption(Advance)

/** A clock that is ahead of the system clock. */
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

/** The listener could not bind its port; `cause` is Node's error. */
export class TestClockUnbound extends Data.TaggedError("TestClockUnbound")<{
  readonly port: number
  readonly cause: Error
}> {
  override get message(): string {
    return `${Setting.title("test-clock-port")}: cannot listen on 127.0.0.1:${this.port}: ${this.cause.message}`
  }
}

/** Serves `clock` on 127.0.0.1 until the scope closes; port 0 chooses a free port. */
export const serve = (
  clock: TestClock,
  port: number
): Effect.Effect<AddressInfo, TestClockUnbound, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<Http.Server, TestClockUnbound>((resume) => {
        const server = Http.createServer((request, response) => void respond(clock, request, response))
        // Not removed after the start: an error of a later `accept` must not end the process.
        server.on("error", (cause) => resume(Effect.fail(new TestClockUnbound({ port, cause }))))
        server.listen(port, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) =>
        Effect.callback<void>((resume) => {
          server.close(() => resume(Effect.void))
          server.closeAllConnections()
        })
    ),
    (server) => server.address() as AddressInfo // the address of a TCP server is neither a pipe name nor null
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
  const readable = Number(request.headers["content-length"]) <= MAX_BODY_LENGTH
  const advance = decodeAdvance(readable ? await text(request).catch(() => "") : "")
  if (advance._tag === "None" || clock.now() + advance.value.ms > MAX_NOW) {
    return send(400, {
      message: 'expected {"ms":n} and its Content-Length, with n a whole number of milliseconds, 0 or more'
    })
  }
  clock.advance(advance.value.ms)
  send(200, { now: clock.now() })
}
