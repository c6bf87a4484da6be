/** Checks how many bytes of a rejected request body are read, and whether the client can read the response. */
import { Buffer } from "node:buffer"
import * as Http from "node:http"
import { describe, expect, it } from "vitest"
import { expectAlive, expectError, serve } from "./Server.fixture.ts"
import { request, Wire } from "./Wire.fixture.ts"

const json = "Content-Type: application/json"
const megabyte = Buffer.alloc(1_000_000, " ")

/** Sends megabytes until the connection is closed, and returns their number. */
const sendUntilClosed = async (wire: Wire): Promise<number> => {
  let isClosed = false
  wire.closed.then(() => {
    isClosed = true
  })
  let sent = 0
  while (!isClosed) {
    await wire.send(megabyte)
    sent++
  }
  return sent
}

describe("a request whose body is rejected before it arrives", () => {
  const clients = [
    { who: "without a key", hasKey: false, size: 1, status: 401, code: "missing_api_key" },
    { who: "with a key", hasKey: true, size: 50, status: 413, code: "payload_too_large" }
  ]

  for (const connection of ["keep-alive", "close"]) {
    it.each(clients)(
      `can be sent completely before the response is read: $size MB $who, with Connection: ${connection}`,
      async ({ code, hasKey, size, status }) => {
        const { key, ...server } = await serve()
        const headers = [json, `Content-Length: ${size * megabyte.length}`, `Connection: ${connection}`]
        const sent = { method: "POST", headers, ...(hasKey ? { key } : {}) }
        const wire = await Wire.openAndSend(server.port, request(sent))
        for (let count = 0; count < size; count++) await wire.send(megabyte)
        const response = await wire.response()
        expectError(response, status, code)
        expect(response.header("connection")).toBe(connection)
        if (connection === "close") return expect(await wire.rest()).toBe("")
        await wire.send(request({ key }))
        expect((await wire.response()).status).toBe(200)
      }
    )
  }

  it("gets a 401 that Node's HTTP clients can read if it has a body of 1 MiB and no key", async () => {
    const server = await serve()
    const body = Buffer.alloc(1_048_576)
    const url = `http://127.0.0.1:${server.port}/v1/pets`
    expect((await fetch(url, { method: "POST", body })).status).toBe(401)
    const status = await new Promise((resolve, reject) => {
      const sending = Http.request(url, { method: "POST" }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
      sending.once("error", reject).end(body)
    })
    expect(status).toBe(401)
  })

  it("gets its response after the responses to earlier pipelined requests", async () => {
    const server = await serve({ service: { anonymousPlan: { perMinute: 20, perDay: 100 } } })
    const create = request({ body: " ".repeat(60_000) })
    const wire = await Wire.openAndSend(server.port, create.repeat(30))
    const statuses: Array<number> = []
    while (statuses.length < 30) statuses.push((await wire.response()).status)
    expect(statuses).toEqual([...Array(20).fill(401), ...Array(10).fill(429)])
  })

  it("gets an immediate response with Connection: close if the body is too long to discard", async () => {
    const server = await serve()
    const headers = [json, "Content-Length: 2000000"]
    const wire = await Wire.openAndSend(server.port, request({ method: "POST", headers }))
    const response = await wire.response()
    expectError(response, 401, "missing_api_key")
    expect(response.header("connection")).toBe("close")
  })

  it("gets a response before its body has arrived completely", async () => {
    const server = await serve()
    const wire = await Wire.openAndSend(
      server.port,
      request({ method: "POST", headers: [json, "Content-Length: 9"] })
    )
    expectError(await wire.response(), 401, "missing_api_key")
  })

  // The client can send a few megabytes more than the limit, because the socket buffers hold them.
  it.each([
    { limit: "64 MiB with a key", hasKey: true, min: 64, max: 100 },
    { limit: "1 MiB without a key", hasKey: false, min: 1, max: 30 }
  ])("has its body discarded up to $limit, then the connection closes", async ({ hasKey, max, min }) => {
    const { key, ...server } = await serve()
    const headers = [json, "Content-Length: 9000000000"]
    const wire = await Wire.openAndSend(
      server.port,
      request({ method: "POST", headers, ...(hasKey ? { key } : {}) })
    )
    const sent = await sendUntilClosed(wire)
    expect(sent).toBeGreaterThan(min)
    expect(sent).toBeLessThan(max)
    await expectAlive(server)
  })

  it.each([
    { what: "a malformed request", sent: "nonsense\r\n\r\n", status: 400 },
    {
      what: "a malformed chunk",
      sent: `${request({ method: "POST", headers: [json, "Transfer-Encoding: chunked"] })}x\r\n`,
      status: 400
    }
  ])(
    "has further bytes discarded up to 64 MiB after $what, and the client gets the response",
    async ({ sent, status }) => {
      const server = await serve()
      const wire = await Wire.openAndSend(server.port, sent)
      expect((await wire.response()).status).toBe(status)
      const megabytes = await sendUntilClosed(wire)
      expect(megabytes).toBeGreaterThan(1)
      // The client can send a few megabytes more, because the socket buffers hold them.
      expect(megabytes).toBeLessThan(100)
      await expectAlive(server)
    }
  )

  it("keeps the connection alive if its body is sent in chunks", async () => {
    const { key, ...server } = await serve()
    const chunked = request({ method: "POST", headers: [json, "Transfer-Encoding: chunked"] })
    const wire = await Wire.openAndSend(server.port, `${chunked}4\r\n{"na\r\n`)
    expectError(await wire.response(), 401, "missing_api_key")
    await wire.send(`2\r\n{}\r\n0\r\n\r\n${request({ key })}`)
    expect((await wire.response()).status).toBe(200)
  })

  it("keeps the connection alive if the method is HEAD", async () => {
    const server = await serve()
    const wire = await Wire.openAndSend(
      server.port,
      request({ method: "HEAD", headers: ["Content-Length: 4"] })
    )
    const response = await wire.response({ head: true })
    expect([response.status, Number(response.header("content-length"))]).toEqual([401, expect.any(Number)])
    await wire.send(`true${request({})}`)
    expectError(await wire.response(), 401, "missing_api_key")
  })
})
