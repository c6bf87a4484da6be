/** Checks in a real browser which responses scripts from other origins can read. */
import { once } from "node:events"
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, expect, it } from "vitest"
import { describeInBrowser, launch } from "./Chromium.fixture.ts"
import { type AnimalStore, type AnimalStoreOptions, openAnimalStore } from "./index.ts"

/** A response as a script on the page receives it; `status` is `undefined` if `fetch` rejects. */
interface ObservedResponse {
  readonly status: number | undefined
  readonly headers: { readonly [name: string]: string }
  readonly body: string
}

const portOf = (address: AddressInfo | string | null): number =>
  typeof address === "object" && address !== null ? address.port : 0

describeInBrowser("a page from another origin", () => {
  let browser: Browser
  let allowedPage: Page
  let foreignPage: Page
  let allowedOrigin: string
  const servers: Array<http.Server> = []
  const stores: Array<AnimalStore> = []

  /** Opens a page on a new origin, and returns both. */
  const openPage = async (): Promise<{ readonly page: Page; readonly origin: string }> => {
    const server = http.createServer((_, response) => {
      response.writeHead(200, { "Content-Type": "text/html" }).end("<!doctype html><title>a shop</title>")
    })
    servers.push(server)
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    const origin = `http://127.0.0.1:${portOf(server.address())}`
    const page = await browser.newPage()
    page.setDefaultTimeout(60_000)
    await page.goto(origin)
    return { page, origin }
  }

  /** Serves a store with its own server, or with `store.fetch` behind a plain `node:http` server. */
  const serve = async (
    host: "node" | "fetch",
    options: AnimalStoreOptions
  ): Promise<{ readonly url: string; readonly store: AnimalStore }> => {
    const store = await openAnimalStore({ ...options, log: () => undefined })
    stores.push(store)
    if (host === "node") {
      const { port } = await store.listen({ port: 0 })
      return { url: `http://127.0.0.1:${port}`, store }
    }
    const server = http.createServer(async (request, response) => {
      const chunks: Array<Buffer> = []
      for await (const chunk of request) chunks.push(chunk)
      const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [
        name,
        `${value}`
      ])
      const method = request.method ?? "GET"
      const result = await store.fetch(
        new Request(`http://store.test${request.url}`, {
          method,
          headers,
          ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) })
        })
      )
      response.writeHead(result.status, [...result.headers].flat())
      response.end(Buffer.from(await result.arrayBuffer()))
    })
    servers.push(server)
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    return { url: `http://127.0.0.1:${portOf(server.address())}`, store }
  }

  /** Sends a request with `fetch` from a script on the page. */
  const send = (
    page: Page,
    url: string,
    init: { method?: string; key?: string; json?: unknown } = {}
  ): Promise<ObservedResponse> =>
    page.evaluate(
      async ({ init: { json, key, method = "GET" }, url }) => {
        try {
          const response = await fetch(url, {
            method,
            headers: {
              ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
              ...(json === undefined ? {} : { "Content-Type": "application/json" })
            },
            ...(json === undefined ? {} : { body: JSON.stringify(json) })
          })
          return {
            status: response.status,
            headers: Object.fromEntries(response.headers),
            body: await response.text()
          }
        } catch (error) {
          return { status: undefined, headers: {}, body: String(error) }
        }
      },
      { url, init }
    )

  beforeAll(async () => {
    browser = await launch()
    const first = await openPage()
    allowedPage = first.page
    allowedOrigin = first.origin
    foreignPage = (await openPage()).page
  }, 120_000)

  afterAll(async () => {
    await browser?.close()
    for (const server of servers) server.close()
    await Promise.all(stores.map((store) => store.close()))
  })

  it.each(["node", "fetch"] as const)(
    "can read all responses over %s if its origin is allowed",
    async (host) => {
      const { store, url } = await serve(host, { corsOrigins: [allowedOrigin] })
      const { key } = await store.keys.issue({ plan: "Enterprise", limits: { perMinute: 6, perDay: 100 } })

      const empty = await send(allowedPage, `${url}/v1/pets`, { key })
      expect([empty.status, empty.body]).toEqual([200, "[]"])
      expect(empty.headers).toMatchObject({
        "x-ratelimit-limit": "6",
        "x-ratelimit-remaining": "5",
        "x-ratelimit-reset": expect.stringMatching(/^\d+$/),
        "x-request-id": expect.stringMatching(/./),
        date: expect.stringMatching(/GMT$/)
      })

      const created = await send(allowedPage, `${url}/v1/pets`, {
        method: "POST",
        key,
        json: { name: "Rex", categoryId: 7 }
      })
      expect(created).toMatchObject({ status: 201, headers: { location: "/v1/pets/1" } })
      await send(allowedPage, `${url}/v1/pets`, { method: "POST", key, json: { name: "Mia", categoryId: 7 } })
      const page = await send(allowedPage, `${url}/v1/pets?limit=1`, { key })
      expect(page.headers.link).toMatch(/rel="next"/)

      const notFound = await send(allowedPage, `${url}/v1/pets/99`, { key })
      expect(notFound).toMatchObject({
        status: 404,
        headers: { sunset: expect.any(String), deprecation: expect.any(String) }
      })
      const unsupported = await send(allowedPage, `${url}/v1/pets`, { method: "PUT", key })
      expect(unsupported).toMatchObject({ status: 405, headers: { allow: "GET, HEAD, POST, OPTIONS" } })

      const denied = await send(allowedPage, `${url}/v1/pets`, { key })
      expect(denied).toMatchObject({
        status: 429,
        headers: { "retry-after": "10", "x-ratelimit-remaining": "0" }
      })
      expect(JSON.parse(denied.body)).toMatchObject({ code: "rate_limit_exceeded" })

      const anonymous = await send(allowedPage, `${url}/v1/pets`)
      expect(anonymous).toMatchObject({
        status: 401,
        headers: { "www-authenticate": 'Bearer realm="animals"' }
      })
      expect(JSON.parse(anonymous.body)).toMatchObject({ code: "missing_api_key" })
    }
  )

  it("can read only the OpenAPI document if its origin is not allowed", async () => {
    const { store, url } = await serve("node", { corsOrigins: [allowedOrigin] })
    const { key } = await store.keys.issue({ plan: "Free" })
    expect(await send(foreignPage, `${url}/v1/pets`, { key })).toMatchObject({ status: undefined })
    expect(await send(foreignPage, `${url}/v1/pets`)).toMatchObject({ status: undefined })
    const document = await send(foreignPage, `${url}/openapi.json`)
    expect(document.status).toBe(200)
    expect(JSON.parse(document.body)).toMatchObject({ openapi: "3.1.0" })
  })

  it("can read responses if all origins are allowed, and only the OpenAPI document by default", async () => {
    const permissive = await serve("node", { corsOrigins: ["*"] })
    const { key } = await permissive.store.keys.issue({ plan: "Free" })
    expect(await send(foreignPage, `${permissive.url}/v1/pets`, { key })).toMatchObject({ status: 200 })
    const restrictive = await serve("node", {})
    const issued = await restrictive.store.keys.issue({ plan: "Free" })
    expect(await send(allowedPage, `${restrictive.url}/v1/pets`, { key: issued.key })).toMatchObject({
      status: undefined
    })
    expect((await send(allowedPage, `${restrictive.url}/openapi.json`)).status).toBe(200)
  })

  it("can read the 431 for a URL that is too long if its origin is allowed", async () => {
    const { url } = await serve("node", { corsOrigins: [allowedOrigin, "https://shop.example"] })
    const tooLong = await send(allowedPage, `${url}/v1/pets?x=${"x".repeat(9_000)}`)
    expect(tooLong.status).toBe(431)
    expect(JSON.parse(tooLong.body)).toMatchObject({ code: "headers_too_large" })
  })

  it("uses no rate-limit tokens for preflight requests", async () => {
    const { store, url } = await serve("node", { corsOrigins: ["*"] })
    const { key } = await store.keys.issue({ plan: "Free" })
    const seen: Array<string | undefined> = []
    for (let count = 0; count < 3; count++) {
      const { headers } = await send(allowedPage, `${url}/v1/pets?x=${count}`, { key })
      seen.push(headers["x-ratelimit-remaining"])
    }
    expect(seen).toEqual(["59", "58", "57"])
  })
})
