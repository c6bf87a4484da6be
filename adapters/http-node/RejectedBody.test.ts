/** Bodies that nobody wants: how much of them is read, and who can read the response. */
import { Buffer } from "node:buffer"
import * as Http from "node:http"
import { describe, expect, it } from "vitest"
import { collectGarbage, expectAlive, expectError, serve } from "./Server.fixture.ts"
import { request, Wire } from "./Wire.fixture.ts"

const json = "Content-Type: application/json"
const megabyte = Buffer.alloc(1_000_000, " ")

describe("a body that is rejected before it arrives", () => {
  const clients = [
    { who: "without a key", hasKey: false, size: 1, status: 401, code: "missing_api_key" },
    { who: "with a key", hasKey: true, size: 50, status: 413, code: "payload_too_large" }
  ]

  for (const connection of ["keep-alive", "close"]) {
    it.each(clients)(
      `can be sent whole before the response is read, $size MB $who, with Connection: ${connection}`,
      async ({ code, hasKey, size, status }) => {
        const server = await serve()
        const key = await server.issue()
        const headers = [json, `Content-Length: ${size * megabyte.length}`, `Connection: ${connection}`]
        const sent = { method: "POST", headers, ...(hasKey ? { key } : {}) }
        const wire = await Wire.sending(server.port, request(sent))
        for (let count = 0; count < size; count++) await wire.send(megabyte)
        const answer = await wire.answer()
        expectError(answer, status, code)
        expect(answer.header("connection")).toBe(connection)
        if (connection === "close") return expect(await wire.rest()).toBe("")
        await wire.send(request({ key }))
        expect((await wire.answer()).status).toBe(200)
      }
    )
  }

  it("without a key is answered for the clients of Node, of one mebibyte", async () => {
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

  it("without a key gets its response in order behind others", async () => {
    const server = await serve({ service: { anonymousPlan: { perMinute: 20, perDay: 100 } } })
    const create = request({ body: " ".repeat(60_000) })
    const wire = await Wire.sending(server.port, create.repeat(30))
    const statuses: Array<number> = []
    while (statuses.length < 30) statuses.push((await wire.answer()).status)
    expect(statuses).toEqual([...Array(20).fill(401), ...Array(10).fill(429)])
  })

  it("and is too long to be read is answered at once, which announces the end", async () => {
    const server = await serve()
    const headers = [json, "Content-Length: 2000000"]
    const wire = await Wire.sending(server.port, request({ method: "POST", headers }))
    const answer = await wire.answer()
    expectError(answer, 401, "missing_api_key")
    expect(answer.header("connection")).toBe("close")
  })

  it("is answered before it is complete", async () => {
    const server = await serve()
    const wire = await Wire.sending(
      server.port,
      request({ method: "POST", headers: [json, "Content-Length: 9"] })
    )
    expectError(await wire.answer(), 401, "missing_api_key")
  })

  it("does not stay in memory", async () => {
    const server = await serve()
    const key = await server.issue()
    const headers = [json, `Content-Length: ${60 * megabyte.length}`]
    const wire = await Wire.sending(server.port, request({ method: "POST", key, headers }))
    expectError(await wire.answer(), 413, "payload_too_large")
    await collectGarbage()
    const before = process.memoryUsage()
    for (let sent = 0; sent < 50; sent++) await wire.send(megabyte)
    await collectGarbage()
    const after = process.memoryUsage()
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(10 * megabyte.length)
    expect(after.rss - before.rss).toBeLessThan(100 * megabyte.length)
  })

  // A few megabytes more are on their way, in the buffers of the system.
  it.each([
    { limit: "64 MiB with a key", hasKey: true, min: 64, max: 100 },
    { limit: "1 MiB without a key", hasKey: false, min: 1, max: 30 }
  ])("is read for $limit and no further", async ({ hasKey, max, min }) => {
    const server = await serve()
    const key = await server.issue()
    const headers = [json, "Content-Length: 9000000000"]
    const wire = await Wire.sending(
      server.port,
      request({ method: "POST", headers, ...(hasKey ? { key } : {}) })
    )
    let cut = false
    wire.closed.then(() => {
      cut = true
    })
    let sent = 0
    while (!cut) {
      await wire.send(megabyte)
      sent++
    }
    expect(sent).toBeGreaterThan(min)
    expect(sent).toBeLessThan(max)
    await expectAlive(server)
  })

  it("and sent in chunks leaves the connection usable", async () => {
    const server = await serve()
    const key = await server.issue()
    const chunked = request({ method: "POST", headers: [json, "Transfer-Encoding: chunked"] })
    const wire = await Wire.sending(server.port, `${chunked}4\r\n{"na\r\n`)
    expectError(await wire.answer(), 401, "missing_api_key")
    await wire.send(`2\r\n{}\r\n0\r\n\r\n${request({ key })}`)
    expect((await wire.answer()).status).toBe(200)
  })

  it("of a HEAD request leaves the connection usable", async () => {
    const server = await serve()
    const wire = await Wire.sending(server.port, request({ method: "HEAD", headers: ["Content-Length: 4"] }))
    const answer = await wire.answer({ head: true })
    expect([answer.status, Number(answer.header("content-length"))]).toEqual([401, expect.any(Number)])
    await wire.send(`true${request({})}`)
    expectError(await wire.answer(), 401, "missing_api_key")
  })
})
