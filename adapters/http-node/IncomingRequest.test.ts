import { Buffer } from "node:buffer"
import { IncomingMessage } from "node:http"
import { Socket } from "node:net"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as IncomingRequest from "./IncomingRequest.ts"
import { serve } from "./Server.fixture.ts"
import { request, Wire } from "./Wire.fixture.ts"

const latin1 = (min: number): fc.Arbitrary<string> =>
  fc
    .array(fc.oneof(fc.integer({ min: 0x21, max: 0x7e }), fc.integer({ min: 0xa1, max: 0xff })), {
      minLength: min,
      maxLength: 20
    })
    .map((units) => String.fromCharCode(...units))

const token = fc
  .stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,12}$/)
  .filter((name) => !/^upgrade$/i.test(name))

describe("the head of a held request", () => {
  it("is encoded from the parsed head without optional white space", () => {
    fc.assert(
      fc.property(latin1(1), fc.array(fc.tuple(token, latin1(0)), { maxLength: 8 }), (target, fields) => {
        const message = Object.assign(new IncomingMessage(new Socket()), {
          method: "GET",
          url: `/${target}`,
          httpVersion: "1.1",
          rawHeaders: fields.flat()
        })
        const lines = [`GET /${target} HTTP/1.1`, ...fields.map(([name, value]) => `${name}:${value}`)]
        expect(IncomingRequest.head(message)).toEqual(Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"))
      })
    )
  })

  it("has no Upgrade header, so that the request is handled as an ordinary request", async () => {
    const server = await serve()
    const key = await server.issue()
    const upgrade = request({ key, headers: ["Connection: Upgrade", "Upgrade: websocket"] })
    const wire = await Wire.openAndSend(server.port, upgrade.repeat(3))
    for (let count = 0; count < 3; count++) expect((await wire.response()).status).toBe(200)
  })

  it("stays within the header size limit even if it is large", async () => {
    const server = await serve()
    const key = await server.issue()
    // With one more byte per header, the encoded head would exceed the limit.
    const fields = Array.from({ length: 97 }, (_, index) => `X-${index}:${"a".repeat(158)}`)
    const large = request({ key, headers: fields })
    const wire = await Wire.openAndSend(server.port, large.repeat(3))
    for (let count = 0; count < 3; count++) expect((await wire.response()).status).toBe(200)
  })
})
