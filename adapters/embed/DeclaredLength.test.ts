/** Checks on which hosts `store.fetch` reads a body of declared length in one call, without a stream. */
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import { serve } from "@hono/node-server"
import { expect, it, onTestFinished, vi } from "vitest"
import { openAnimalStore } from "./index.ts"

const BODY = '{"name":"Rex","categoryId":9223372036854775807}'

const open = async (options: { readonly trustContentLength?: boolean } = {}) => {
  const store = await openAnimalStore({ ...options, log: () => undefined })
  onTestFinished(() => store.close())
  const { key } = await store.keys.issue({ plan: "Free" })
  return { store, headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" } }
}

it.each([
  {
    title: "without a stream if its length is declared",
    headers: { "Content-Length": String(BODY.length) },
    streams: 0
  },
  {
    title: "with one stream if its length is not declared",
    headers: { "Transfer-Encoding": "chunked" },
    streams: 1
  }
])("store.fetch reads a body on @hono/node-server $title", async (sent) => {
  const { headers, store } = await open()
  let streams = 0
  const server = serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => {
      const get = (): unknown => {
        streams++
        return Reflect.get(Object.getPrototypeOf(request), "body", request)
      }
      return store.fetch(Object.defineProperty(request, "body", { get }))
    }
  })
  onTestFinished(() => new Promise<void>((resolve) => void server.close(() => resolve())))
  if (!server.listening) await new Promise((resolve) => server.once("listening", resolve))
  const { port } = server.address() as AddressInfo // a TCP listener's address is neither a pipe name nor null
  const created = await new Promise<{ readonly status: number | undefined; readonly body: string }>(
    (resolve, reject) => {
      const options = { host: "127.0.0.1", port, path: "/v1/pets", method: "POST", agent: false }
      const request = http.request({ ...options, headers: { ...headers, ...sent.headers } }, (response) => {
        let body = ""
        response.setEncoding("utf8").on("data", (chunk: string) => {
          body += chunk
        })
        response.once("end", () => resolve({ status: response.statusCode, body }))
      })
      request.once("error", reject).end(BODY)
    }
  )
  expect(created).toEqual({ status: 201, body: `{"id":1,${BODY.slice(1, -1)},"status":"available"}` })
  expect(streams).toBe(sent.streams)
})

it.each([
  { options: { trustContentLength: true }, calls: 1 },
  { options: { trustContentLength: false }, calls: 0 },
  { options: {}, calls: 0 }
])(
  "store.fetch calls arrayBuffer of a standard request $calls times with the options $options",
  async (setup) => {
    const { headers, store } = await open(setup.options)
    const request = new Request("http://store.test/v1/pets", {
      method: "POST",
      headers: { ...headers, "Content-Length": String(BODY.length) },
      body: BODY
    })
    const arrayBuffer = vi.spyOn(Request.prototype, "arrayBuffer")
    onTestFinished(() => arrayBuffer.mockRestore())
    expect((await store.fetch(request)).status).toBe(201)
    expect(arrayBuffer).toHaveBeenCalledTimes(setup.calls)
  }
)
