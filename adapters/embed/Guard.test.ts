import { AsyncLocalStorage } from "node:async_hooks"
import { EventEmitter, once } from "node:events"
import * as http from "node:http"
import * as net from "node:net"
import express from "express"
import Fastify from "fastify"
import { describe, expect, it, onTestFinished } from "vitest"
import { type AnimalStore, type Exchange, InvalidOption } from "./index.ts"
import * as Stores from "./Stores.fixture.ts"

/** Serves a listener until the test ends; returns its origin. */
const serve = async (listener: http.RequestListener): Promise<string> => {
  const server = http.createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as net.AddressInfo).port}` // a TCP listener's address is an object
}

const identity = { label: "shop", account: "acme", metadata: { crm: [7] } }

const bearer = (key: string) => ({ Authorization: `Bearer ${key}` })

/** Opens a store that records its exchanges; issues a key. */
const open = async (database = "memory:") => {
  const exchanges: Array<Exchange> = []
  const store = await Stores.open({ database, onResponse: (exchange) => exchanges.push(exchange) })
  const { id, key } = await store.keys.issue({ plan: "Free", ...identity })
  return { exchanges, id, key, store }
}

/** Sends requests for `/orders/1` to a Fastify application without a socket. */
const inject = async (store: AnimalStore, key: string) => {
  const app = Fastify()
  app.addHook("onRequest", async (_, reply) => void reply.header("X-Plugin", "yes"))
  app.addHook("onRequest", store.guard())
  app.get("/orders/:id", async () => ({ ok: true }))
  const get = (headers: { readonly [name: string]: string }) =>
    app.inject({ method: "GET", url: "/orders/1", headers })
  return [await get(bearer(key)), await get({})] as const
}

describe("a guarded route", () => {
  it("has the template of Express in exchanges, with the path of the router", async () => {
    const { exchanges, key, store } = await open()
    const app = express()
    const orders = express.Router()
    orders.get("/:id", (_, response) => void response.status(202).json({ ok: true }))
    app.use("/orders", store.guard(), orders)
    const origin = await serve(app)
    const response = await fetch(`${origin}/orders/7?page=2`, { headers: bearer(key) })
    expect(await response.text()).toBe('{"ok":true}')
    await fetch(`${origin}/orders/7/none`, { headers: bearer(key) })
    await expect.poll(() => exchanges).toHaveLength(2)
    expect(exchanges).toMatchObject([
      { status: 202, route: "/orders/:id", bodyBytes: 11, outcome: "admitted", plan: "Free" },
      { status: 404, route: undefined, unknownPath: "/orders/7/none" }
    ])
    expect(exchanges[0]?.requestId).toBe(response.headers.get("X-Request-Id"))
  })

  it("has the template of Fastify in exchanges, and rejections have the headers of plugins", async () => {
    const { exchanges, key, store } = await open()
    const [admitted, rejected] = await inject(store, key)
    expect([admitted.statusCode, admitted.json()]).toEqual([200, { ok: true }])
    expect(admitted.headers).toMatchObject({ "x-ratelimit-remaining": "59", "x-plugin": "yes" })
    expect([rejected.statusCode, rejected.json()]).toMatchObject([401, { code: "missing_api_key" }])
    expect(rejected.headers).toMatchObject({ "x-ratelimit-remaining": "59", "x-plugin": "yes" })
    await expect.poll(() => exchanges).toHaveLength(2)
    expect(exchanges).toMatchObject([
      { status: 200, route: "/orders/:id", errorCode: undefined },
      { status: 401, route: "/orders/:id", errorCode: "missing_api_key" }
    ])
  })

  it("has the template that the option `route` gives, also with `admit`", async () => {
    const { exchanges, key, store } = await open()
    const guard = store.guard({ route: "/orders/{id}" })
    const origin = await serve((request, response) => guard(request, response, () => response.end("ok")))
    await (await fetch(`${origin}/orders/7`, { headers: bearer(key) })).text()
    const request = new Request("http://store.test/orders/7", { headers: bearer(key) })
    const admission = await store.admit(request, { route: "/orders/{id}" })
    if (!admission.admitted) throw new Error("rejected")
    const redirect = admission.respond(Response.redirect("http://store.test/orders", 303))
    expect(redirect.headers.get("Location")).toBe("http://store.test/orders")
    expect(redirect.headers.get("X-RateLimit-Remaining")).toBe("58")
    await expect.poll(() => exchanges).toHaveLength(2)
    expect(exchanges).toMatchObject([
      { status: 200, route: "/orders/{id}" },
      { status: 303, route: "/orders/{id}" }
    ])
  })

  it("keeps the `Vary` that middleware before the guard has set", async () => {
    const store = await Stores.open({ corsOrigins: ["https://shop.example"] })
    const { key } = await store.keys.issue({ plan: "Free" })
    const guard = store.guard()
    const origin = await serve((request, response) => {
      response.setHeader("Vary", "Accept-Language")
      guard(request, response, () => response.end("ok"))
    })
    const { headers } = await fetch(origin, { headers: bearer(key) })
    expect(headers.get("Vary")).toBe("Accept-Language, Origin")
  })

  it("cannot begin after the response, and counts nothing then", async () => {
    const { id, key, store } = await open()
    const app = express()
    app.use((_, response, next) => {
      response.write("x")
      next()
    })
    const thrown = new Promise((resolve) => {
      app.use(store.guard(), ((error, _request, response, _next) => {
        response.end()
        resolve(error)
      }) satisfies express.ErrorRequestHandler)
    })
    const origin = await serve(app)
    expect(await (await fetch(origin, { headers: bearer(key) })).text()).toBe("x")
    expect(await thrown).toEqual(new Error("store.guard() was called after the response had begun"))
    expect((await store.keys.show(id)).usage.day.used).toBe(0)
  })

  it.each([
    ["/v1", "/livez"],
    ["/animals/v1", "/animals/livez"]
  ])("does not hide the health checks of a service at %s", async (basePath, path) => {
    const store = await Stores.open({ basePath })
    const guard = store.guard()
    const origin = await serve((request, response) => guard(request, response, () => response.end("ok")))
    expect(await (await fetch(`${origin}${path}`)).json()).toEqual({ status: "live" })
    expect((await fetch(`${origin}${basePath}/pets`)).status).toBe(401)
  })

  it("has an exchange without a status if the client disconnects before the response", async () => {
    const { exchanges, key, store } = await open()
    const guard = store.guard()
    const guarded = new EventEmitter()
    const origin = await serve((request, response) =>
      guard(request, response, () => void guarded.emit("reached"))
    )
    const socket = net.connect(Number(new URL(origin).port), "127.0.0.1", () =>
      socket.write(`GET /orders HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`)
    )
    await once(guarded, "reached")
    socket.destroy()
    await expect.poll(() => exchanges).toHaveLength(1)
    expect(exchanges).toMatchObject([{ status: undefined, outcome: "admitted", unknownPath: "/orders" }])
  })

  it("closes its connections while the store drains", async () => {
    const { key, store } = await open()
    const guard = store.guard()
    const origin = await serve((request, response) => guard(request, response, () => response.end("ok")))
    const connection = async () =>
      (await fetch(`${origin}/orders`, { headers: bearer(key) })).headers.get("Connection")
    expect(await connection()).toBe("keep-alive")
    const drained = store.drain(60_000)
    expect(await connection()).toBe("close")
    await store.close()
    await drained
  })

  it("ends the process if its handler throws, like any handler, but the next request still gets a response", async () => {
    const { key, store } = await open()
    const guard = store.guard()
    const listeners = process.rawListeners("uncaughtException")
    const thrown = once(process.removeAllListeners("uncaughtException"), "uncaughtException")
    const origin = await serve((request, response) =>
      guard(request, response, () => {
        if (request.url === "/broken") throw new Error("broken")
        response.end("ok")
      })
    )
    void fetch(`${origin}/broken`, { headers: bearer(key) }).catch(() => undefined)
    expect((await thrown)[0]).toEqual(new Error("broken"))
    for (const listener of listeners) process.on("uncaughtException", listener as () => void)
    expect((await fetch(`${origin}/orders`, { headers: bearer(key) })).status).toBe(200)
  })

  for (const kind of Stores.kinds) {
    it.skipIf(kind.missing !== undefined)(
      `runs in the asynchronous context of its request and can read its body, ${Stores.titleEnd(kind)}`,
      async () => {
        const { id, key, store } = await open(await kind.address())
        const context = new AsyncLocalStorage<string>()
        const app = express()
        app.use((request, _, next) => context.run(request.url, next))
        app.post("/orders/:id", store.guard(), express.json(), (request, response) => {
          response.json({ context: context.getStore(), caller: request.caller, body: request.body })
        })
        const origin = await serve(app)
        const bodies = await Promise.all(
          Array.from({ length: 8 }, async (_, index) => {
            const response = await fetch(`${origin}/orders/${index}`, {
              method: "POST",
              headers: { ...bearer(key), "Content-Type": "application/json" },
              body: `{"index":${index}}`
            })
            return response.json()
          })
        )
        expect(bodies).toEqual(
          bodies.map((_, index) => ({
            context: `/orders/${index}`,
            caller: { id, plan: "Free", ...identity },
            body: { index }
          }))
        )
      }
    )
  }
})

describe("the cost of a guarded request", () => {
  for (const kind of Stores.kinds) {
    it.skipIf(kind.missing !== undefined)(
      `is taken from both windows, all or none, ${Stores.titleEnd(kind)}`,
      async () => {
        const now = Date.UTC(2026, 11, 1, 12)
        const store = await Stores.open({ database: await kind.address(), now: () => now })
        const { id, key } = await store.keys.issue({
          plan: "Enterprise",
          limits: { perMinute: 10, perDay: 50 }
        })
        const send = async (cost: number, secret = key) => {
          const request = new Request("http://store.test/orders", { headers: bearer(secret) })
          const admission = await store.admit(request, { cost })
          const headers = admission.admitted ? admission.headers : admission.response.headers
          const status = admission.admitted ? 200 : admission.response.status
          return [status, headers.get("X-RateLimit-Remaining"), headers.get("Retry-After")]
        }
        expect(await send(4)).toEqual([200, "6", null])
        // 7 tokens need one more, which takes six seconds.
        expect(await send(7)).toEqual([429, "6", "6"])
        expect(await send(6)).toEqual([200, "0", null])
        expect((await store.keys.show(id)).usage.day.used).toBe(10)
        // Without a valid key, a request counts as one.
        expect(await send(7, "ast_1")).toEqual([401, "59", null])
      }
    )
  }

  it("is at most the whole limit of the key, so that the request is admitted when its bucket is full", async () => {
    const { key, store } = await open()
    const request = () => new Request("http://store.test/orders", { headers: bearer(key) })
    const admission = await store.admit(request(), { cost: 1_000 })
    expect(admission.admitted && admission.headers.get("X-RateLimit-Remaining")).toBe("0")
    const next = await store.admit(request(), { cost: 1_000 })
    expect(!next.admitted && next.response.headers.get("Retry-After")).toBe("60")
  })

  it("can be a function of the request; if it throws or its result is invalid, the response is a 500", async () => {
    const lines: Array<string> = []
    const store = await Stores.open({ logLevel: "error", log: (line) => lines.push(line) })
    const { key } = await store.keys.issue({ plan: "Free" })
    const app = express()
    app.use(
      store.guard({
        cost: ({ query }: express.Request) => {
          if (query.items === "x") throw new Error("no number")
          const nothing: unknown = undefined
          if (query.items === "y") throw nothing
          return Number(query.items ?? 1)
        }
      })
    )
    app.get("/orders", (_, response) => void response.json({}))
    const origin = await serve(app)
    const send = (query: string) => fetch(`${origin}/orders${query}`, { headers: bearer(key) })
    expect((await send("?items=20")).headers.get("X-RateLimit-Remaining")).toBe("40")
    for (const query of ["?items=0", "?items=x", "?items=y"]) {
      const response = await send(query)
      expect([response.status, await response.json()]).toMatchObject([500, { code: "internal_error" }])
    }
    // The three requests count as one each.
    expect((await send("")).headers.get("X-RateLimit-Remaining")).toBe("36")
    expect(lines).toEqual([
      expect.stringContaining("cost: must be a whole number from 1 to 1000000000"),
      expect.stringContaining("no number"),
      expect.stringContaining("the function cost threw undefined")
    ])
  })
})

describe("store.guard and store.admit", () => {
  it.each([0, -1, 1.5, Number.NaN, "2", null])("reject the cost %j with InvalidOption", async (cost) => {
    const { store } = await open()
    const message = "cost: must be a whole number from 1 to 1000000000, or a function"
    const given: unknown = { cost }
    expect(() => Reflect.apply(store.guard, undefined, [given])).toThrow(message)
    const request = new Request("http://store.test/orders")
    const admission: Promise<unknown> = Reflect.apply(store.admit, undefined, [request, given])
    await expect(admission).rejects.toMatchObject({ _tag: "InvalidOption", message })
  })

  it("reject unknown options with InvalidOption", async () => {
    const { store } = await open()
    const options = JSON.parse('{"rotue":"/orders"}')
    const message = "rotue: unknown option; did you mean route?"
    expect(() => store.guard(options)).toThrow(
      new InvalidOption({ option: "rotue", reason: message.slice(7) })
    )
    const admission = store.admit(new Request("http://store.test/orders"), options)
    await expect(admission).rejects.toMatchObject({ message })
  })

  it("reject a request whose signal is aborted", async () => {
    const { store } = await open()
    const request = new Request("http://store.test/orders", { signal: AbortSignal.abort("gone") })
    await expect(store.admit(request)).rejects.toBe("gone")
  })
})
