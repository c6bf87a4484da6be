import * as http from "node:http"
import type { AddressInfo } from "node:net"
import express from "express"
import Fastify, { type FastifyInstance } from "fastify"
import { afterEach, describe, expect, it } from "vitest"
import { type AnimalStore, openAnimalStore } from "./index.ts"
import * as Recipes from "./Recipes.fixture.ts"

type Send = (path: string, init?: RequestInit) => Promise<Response>

interface Mounted {
  readonly store: AnimalStore
  readonly send: Send
}

const cleanups: Array<() => Promise<unknown>> = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const sendTo =
  (origin: string): Send =>
  (path, init) =>
    fetch(origin + path, init)

/** Serves the listener on a free port until the test ends. */
const serve = async (store: AnimalStore, listener: http.RequestListener): Promise<Mounted> => {
  const server = http.createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  cleanups.push(store.close, () => new Promise((resolve) => server.close(resolve)))
  const { port } = server.address() as AddressInfo // a TCP listener's address is neither a pipe name nor null
  return { store, send: sendTo(`http://127.0.0.1:${port}`) }
}

const inNode = async ({ server, store }: Awaited<ReturnType<typeof Recipes.node>>) =>
  serve(store, (request, response) => void server.emit("request", request, response))

const inExpress = ({ app, store }: { readonly app: express.Express; readonly store: AnimalStore }) =>
  serve(store, app)

const inFastify = async ({
  app,
  store
}: {
  readonly app: FastifyInstance
  readonly store: AnimalStore
}): Promise<Mounted> => {
  const origin = await app.listen({ port: 0, host: "127.0.0.1" })
  cleanups.push(store.close, () => app.close())
  return { store, send: sendTo(origin) }
}

const inHono = ({ app, store }: Awaited<ReturnType<typeof Recipes.hono4>>): Mounted => {
  cleanups.push(store.close)
  return { store, send: async (path, init) => app.request(path, init) }
}

/** The mounted stores, and the paths by which clients reach their operations. */
const mounts: ReadonlyArray<readonly [host: string, base: string, mount: () => Promise<Mounted>]> = [
  ["node:http", "/v1", async () => inNode(await Recipes.node())],
  ["Express 5", "/v1", async () => inExpress(await Recipes.express5())],
  ["Fastify 5", "/v1", async () => inFastify(await Recipes.fastify5())],
  ["Hono 4", "/v1", async () => inHono(await Recipes.hono4())]
]

/** Stores that are mounted below a path of the host, with their pages. */
const atPrefix: typeof mounts = [
  ["node:http", "/animals/v1", async () => inNode(await Recipes.nodeAtPrefix())],
  ["Fastify 5", "/animals/v1", async () => inFastify(await Recipes.fastify5AtPrefix())],
  ["Hono 4", "/animals/v1", async () => inHono(await Recipes.hono4AtPrefix())],
  ["Connect", "/animals/v1", async () => inNode(await Recipes.connectAt("/animals"))],
  ["Express 5", "/animals/v1", async () => inExpress(await Recipes.express5At("/animals"))],
  [
    "Express 5, with the same base path",
    "/animals/v1",
    async () => inExpress(await Recipes.express5At("/animals", "/animals/v1"))
  ],
  [
    "Express 5, with a base path of its own",
    "/shop/animals/v1",
    async () => inExpress(await Recipes.express5At("/shop", "/animals/v1"))
  ],
  [
    "Express 5, without a base path",
    "/animals",
    async () => inExpress(await Recipes.express5At("/animals", ""))
  ],
  [
    "Express 5, only the operations",
    "/animals/v1",
    async () => inExpress(await Recipes.express5At("/animals/v1"))
  ]
]

const post = (key: string, body: string): RequestInit => ({
  method: "POST",
  headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
  body
})

describe.each([...mounts, ...atPrefix])("a store mounted in %s at %s", (_host, base, mount) => {
  it("creates, lists and gets an animal", async () => {
    const { send, store } = await mount()
    const { key } = await store.keys.issue({ plan: "Free" })
    const headers = { Authorization: `Bearer ${key}` }

    const created = await send(`${base}/pets`, post(key, '{"name":"Rex","categoryId":9223372036854775807}'))
    expect(created.status).toBe(201)
    expect(created.headers.get("Location")).toBe(`${base}/pets/1`)
    const pet = '{"id":1,"name":"Rex","categoryId":9223372036854775807,"status":"available"}'
    expect(await created.text()).toBe(pet)

    const got = await send(`${base}/pets/1`, { headers })
    expect(got.status).toBe(200)
    expect(await got.text()).toBe(pet)

    await (await send(`${base}/pets`, post(key, '{"name":"Tom","categoryId":0}'))).text()
    const listed = await send(`${base}/pets?limit=1&status=available`, { headers })
    expect(listed.status).toBe(200)
    expect(await listed.text()).toBe(`[${pet}]`)
    expect(listed.headers.get("X-RateLimit-Remaining")).toBe("56")

    const next = /^<([^>]+)>; rel="next"$/.exec(listed.headers.get("Link") ?? "")?.[1] ?? "no link"
    const second = await send(next, { headers })
    expect(await second.json()).toMatchObject([{ id: 2, name: "Tom" }])
  })

  it("returns 401 with rate-limit headers if the request has no key", async () => {
    const { send } = await mount()
    const response = await send(`${base}/pets`)
    expect(response.status).toBe(401)
    expect(response.headers.get("X-RateLimit-Limit")).toBe("60")
    expect(await response.json()).toMatchObject({ code: "missing_api_key", status: 401 })
  })

  it("handles HEAD and OPTIONS in the service, not in the host", async () => {
    const { send, store } = await mount()
    const { key } = await store.keys.issue({ plan: "Free" })
    const headers = { Authorization: `Bearer ${key}` }
    const head = await send(`${base}/pets`, { method: "HEAD", headers })
    expect([head.status, head.headers.get("Content-Length"), await head.text()]).toEqual([200, "2", ""])
    const options = await send(`${base}/pets`, { method: "OPTIONS", headers })
    expect([options.status, options.headers.get("Allow")]).toEqual([204, "GET, HEAD, POST, OPTIONS"])
  })
})

const withPages = atPrefix.filter(([host]) => !host.includes("only the operations"))

describe.each(withPages)("the pages of a store mounted in %s at %s", (_host, base, mount) => {
  const root = base.replace(/\/v1$/, "")

  it("are below the path of the host, and lead to the operations", async () => {
    const { send } = await mount()
    const live = await send(`${root}/livez`)
    expect([live.status, await live.text()]).toEqual([200, '{"status":"live"}'])
    const document = JSON.parse(await (await send(`${root}/openapi.json`)).text())
    expect(new URL(document.servers[0].url, "http://host.test").pathname).toBe(base)
    const page = await send(`${root}/docs`)
    expect([page.status, page.headers.get("Content-Type")]).toEqual([200, "text/html; charset=utf-8"])
    const script = await send(`${root}/docs/page.js`)
    expect([script.status, await script.text()]).toEqual([200, expect.stringContaining("openapi.json")])
    const browser: RequestInit = { headers: { Accept: "text/html" }, redirect: "manual" }
    const start = await send(`${root}/`, browser)
    expect([start.status, await start.text()]).toEqual([200, expect.stringContaining('href="docs"')])
    const redirect = await send(root, browser)
    const location = redirect.headers.get("Location") ?? ""
    expect([redirect.status, new URL(location, `http://host.test${root}`).pathname]).toEqual([
      308,
      `${root}/`
    ])
  })

  it("do not appear below the base path", async () => {
    const { send, store } = await mount()
    if (base === root) return
    const { key } = await store.keys.issue({ plan: "Free" })
    for (const path of ["/livez", "/docs", "/v1/pets"]) {
      const response = await send(base + path, { headers: { Authorization: `Bearer ${key}` } })
      expect(response.status).toBe(404)
    }
  })

  it("deprecated operations link to their successor with the whole path", async () => {
    const { send, store } = await mount()
    const { key } = await store.keys.issue({ plan: "Free" })
    const response = await send(`${base}/pets/1`, { headers: { Authorization: `Bearer ${key}` } })
    expect(response.headers.get("Link")).toBe(`<${base}/pets>; rel="successor-version"`)
  })
})

describe("a store below a path that its host removes without telling", () => {
  it("sends links with the path if publicBaseUrl contains it", async () => {
    const publicBaseUrl = "https://example.org/animals/v1"
    const store = await openAnimalStore({ publicBaseUrl, docs: true })
    const { Hono } = await import("hono")
    const app = new Hono().mount("/animals", store.fetch)
    const { send } = inHono({ app, store })
    const { key } = await store.keys.issue({ plan: "Free" })
    const created = await send("/animals/v1/pets", post(key, '{"name":"Rex","categoryId":1}'))
    expect([created.status, created.headers.get("Location")]).toEqual([201, `${publicBaseUrl}/pets/1`])
    const document = JSON.parse(await (await send("/animals/openapi.json")).text())
    expect(document.servers[0].url).toBe(publicBaseUrl)
    const start = await send("/animals/", { headers: { Accept: "text/html" } })
    expect(await start.text()).toContain('href="/animals/docs"')
  })
})

const bodyAlreadyRead = {
  code: "internal_error",
  message: expect.stringMatching(/read the request body before .* any body parser/),
  status: 500
}

describe("a request whose body the host has already read or decoded", () => {
  const timeout = (): AbortSignal => AbortSignal.timeout(10_000)
  const body = '{"name":"Rex","categoryId":1}'

  it("gets a 500 with instructions in Express after express.json()", async () => {
    const store = await openAnimalStore()
    const app = express()
    app.use(express.json())
    app.use("/v1", store.nodeListener)
    const { send } = await inExpress({ app, store })
    const { key } = await store.keys.issue({ plan: "Free" })
    const response = await send("/v1/pets", { ...post(key, body), signal: timeout() })
    expect(await response.json()).toEqual(bodyAlreadyRead)
    const list = await send("/v1/pets", { headers: { Authorization: `Bearer ${key}` }, signal: timeout() })
    expect(list.status).toBe(200)
  })

  it("gets a 500 with instructions in Node if setEncoding decodes the bytes to text", async () => {
    const store = await openAnimalStore()
    const { send } = await serve(store, (request, response) => {
      request.setEncoding("utf8")
      store.nodeListener(request, response)
    })
    const { key } = await store.keys.issue({ plan: "Free" })
    const response = await send("/v1/pets", { ...post(key, body), signal: timeout() })
    expect(await response.json()).toEqual(bodyAlreadyRead)
  })

  it("gets a 500 with instructions in Fastify after its body parser has run", async () => {
    const store = await openAnimalStore()
    const app = Fastify()
    app.all("/v1/*", (request, reply) => {
      reply.hijack()
      store.nodeListener(request.raw, reply.raw)
    })
    const { send } = await inFastify({ app, store })
    const { key } = await store.keys.issue({ plan: "Free" })
    const response = await send("/v1/pets", { ...post(key, body), signal: timeout() })
    expect(await response.json()).toEqual(bodyAlreadyRead)
  })

  it("gets a 500 with instructions in Hono after c.req.json()", async () => {
    const { app, store } = await Recipes.hono4()
    cleanups.push(store.close)
    const { key } = await store.keys.issue({ plan: "Free" })
    const { Hono } = await import("hono")
    const outer = new Hono()
    outer.use(async (c, next) => {
      await c.req.json()
      await next()
    })
    outer.route("/", app)
    const response = await outer.request("/v1/pets", post(key, body))
    expect(await response.json()).toEqual(bodyAlreadyRead)
  })

  it("gets a 500 with instructions from store.fetch if the body was read", async () => {
    const store = await openAnimalStore()
    cleanups.push(store.close)
    const { key } = await store.keys.issue({ plan: "Free" })
    const request = new Request("http://store/v1/pets", post(key, body))
    await request.text()
    const response = await store.fetch(request)
    expect(response.status).toBe(500)
    expect(await response.json()).toEqual(bodyAlreadyRead)
  })

  it("gets a 500 with instructions from store.fetch if a reader locks the body", async () => {
    const store = await openAnimalStore()
    cleanups.push(store.close)
    const { key } = await store.keys.issue({ plan: "Free" })
    const request = new Request("http://store/v1/pets", post(key, body))
    request.body?.getReader()
    const response = await store.fetch(request)
    expect(response.status).toBe(500)
    expect(await response.json()).toEqual(bodyAlreadyRead)
  })
})
