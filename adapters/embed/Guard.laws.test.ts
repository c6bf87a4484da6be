/** Checks that a guarded route of every host responds exactly like a route of the service itself. */
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import express from "express"
import * as fc from "fast-check"
import Fastify from "fastify"
import { Hono } from "hono"
import { afterEach, describe, expect, it } from "vitest"
import { type AnimalStore, type AnimalStoreOptions, type Caller, openAnimalStore } from "./index.ts"

const cleanups: Array<() => Promise<unknown>> = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** Sends a request to `/orders`, and returns the response. */
type Send = (init: RequestInit) => Promise<Response>

/** Mounts `GET /orders`, which responds with the body `[]`, behind the guard of a store. */
type Mount = (store: AnimalStore, onCaller: (caller: Caller | undefined) => void) => Promise<Send>

const toPort =
  (port: number): Send =>
  (init) =>
    fetch(`http://127.0.0.1:${port}/orders`, init)

const serve = async (listener: http.RequestListener): Promise<Send> => {
  const server = http.createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  cleanups.push(() => new Promise((resolve) => server.close(resolve)))
  return toPort((server.address() as AddressInfo).port) // a TCP listener's address is neither a pipe name nor null
}

const mounts: { readonly [host: string]: Mount } = {
  "node:http": (store, onCaller) => {
    const guard = store.guard()
    return serve((request, response) =>
      guard(request, response, () => {
        onCaller(request.caller)
        response.setHeader("Content-Type", "application/json; charset=utf-8")
        response.end("[]")
      })
    )
  },
  "Express 5": (store, onCaller) => {
    const app = express().disable("x-powered-by").disable("etag")
    app.use("/orders", store.guard())
    app.get("/orders", (request, response) => {
      onCaller(request.caller)
      response.json([])
    })
    return serve(app)
  },
  "Fastify 5": async (store, onCaller) => {
    const app = Fastify()
    app.addHook("onRequest", store.guard())
    app.get("/orders", (request, reply) => {
      onCaller(request.raw.caller)
      return reply.type("application/json; charset=utf-8").send("[]")
    })
    await app.listen({ port: 0, host: "127.0.0.1" })
    cleanups.push(() => app.close())
    return toPort((app.server.address() as AddressInfo).port) // as above
  },
  "Hono 4": async (store, onCaller) => {
    const app = new Hono<{ Variables: { caller: Caller } }>()
    app.use("/orders", async (context, next) => {
      const admission = await store.admit(context.req.raw)
      if (!admission.admitted) return admission.response
      context.set("caller", admission.caller)
      await next()
      context.res = admission.respond(context.res)
      return undefined
    })
    app.get("/orders", (context) => {
      onCaller(context.var.caller)
      return context.body("[]", 200, { "Content-Type": "application/json; charset=utf-8" })
    })
    return async (init) => app.request("/orders", init)
  }
}

/** A request, and the milliseconds that pass before it. */
interface Step {
  readonly wait: number
  readonly credential: "valid" | "revoked" | "none" | "malformed"
  readonly origin: string | undefined
  readonly method: "GET" | "HEAD" | "OPTIONS"
}

const step: fc.Arbitrary<Step> = fc.record({
  wait: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 90_000 })),
  credential: fc.oneof(
    { weight: 5, arbitrary: fc.constant("valid" as const) },
    fc.constantFrom("revoked", "none", "malformed")
  ),
  origin: fc.constantFrom(undefined, "https://shop.example", "https://other.example"),
  method: fc.oneof({ weight: 8, arbitrary: fc.constant("GET" as const) }, fc.constantFrom("HEAD", "OPTIONS"))
})

/** The headers that a host adds by itself, and the id, which differs. */
const ignored = new Set(["connection", "keep-alive", "content-length", "transfer-encoding", "x-request-id"])

const observe = async (response: Response) => ({
  status: response.status,
  headers: [...response.headers].filter(([name]) => !ignored.has(name)).toSorted(),
  hasId: response.headers.get("x-request-id") !== null,
  body: await response.text()
})

const tight = { perMinute: 3, perDay: 9 }

describe.each(Object.entries(mounts))("a guarded route of %s", (_host, mount) => {
  it("sends the status, the headers and the body that the service sends for its own route", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 20, size: "max" }),
        fc.record({
          corsOrigins: fc.constantFrom([], ["https://shop.example"], ["*"]),
          standardHeaders: fc.boolean()
        }),
        async (steps, given) => {
          let now = Date.UTC(2026, 11, 1, 23, 50)
          const identity = { label: "shop", account: "acme", metadata: { crm: [7] } }
          const options: AnimalStoreOptions = {
            ...given,
            log: () => undefined,
            now: () => now,
            anonymousPlan: tight,
            ban: { strikes: 2 },
            clientAddress: () => "127.0.0.1"
          }
          const [own, guarding] = [await openAnimalStore(options), await openAnimalStore(options)]
          const secrets = async (store: AnimalStore) => {
            const issue = () => store.keys.issue({ plan: "Enterprise", limits: tight, ...identity })
            const [valid, revoked] = [await issue(), await issue()]
            await store.keys.revoke(revoked.id)
            return {
              id: valid.id,
              valid: valid.key,
              revoked: revoked.key,
              malformed: "ast_1",
              none: undefined
            }
          }
          const [ownKeys, guardKeys] = [await secrets(own), await secrets(guarding)]
          const callers: Array<Caller | undefined> = []
          const send = await mount(guarding, (caller) => callers.push(caller))
          for (const { credential, method, origin, wait } of steps) {
            now += wait
            // With a key, the service responds to OPTIONS with the methods of its own route.
            const sent = method === "OPTIONS" && credential === "valid" ? "GET" : method
            const initOf = (key: string | undefined): RequestInit => ({
              method: sent,
              headers: {
                ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
                ...(origin === undefined ? {} : { Origin: origin }),
                ...(sent === "OPTIONS" ? { "Access-Control-Request-Method": "GET" } : {})
              }
            })
            const url = "http://store.test/v1/pets"
            const expected = await observe(await own.fetch(new Request(url, initOf(ownKeys[credential]))))
            callers.length = 0
            const actual = await observe(await send(initOf(guardKeys[credential])))
            expect(actual).toEqual(expected)
            const isAdmitted = expected.status === 200
            expect(callers).toEqual(isAdmitted ? [{ id: guardKeys.id, plan: "Enterprise", ...identity }] : [])
          }
          for (const cleanup of cleanups.splice(0)) await cleanup()
          await Promise.all([own.close(), guarding.close()])
        }
      ),
      { numRuns: 40 }
    )
  }, 60_000)
})
