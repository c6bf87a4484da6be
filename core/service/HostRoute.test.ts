import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { describe, expect } from "vitest"
import type { Exchange } from "./Exchange.ts"
import type { HostRoute } from "./HostRoute.ts"
import { open, outage, request, type Sent, TestResponse, unlimited } from "./Service.fixture.ts"

/** A route that responds with `status`, and the number of times that it has run. */
const routeOf = (status: number) => {
  const route = {
    runs: 0,
    cost: () => 1,
    template: () => "/orders/{id}",
    respond: () =>
      Effect.sync(() => {
        route.runs++
        return { status, bodyBytes: 7 }
      })
  } satisfies HostRoute & { runs: number }
  return route
}

describe("a route of the host", () => {
  it.effect(
    "does not run while the store of the limits fails, unless requests are then admitted uncounted",
    () =>
      Effect.gen(function* () {
        for (const onLimitsUnavailable of ["closed", "open"] as const) {
          const exchanges: Array<Exchange> = []
          const { issue, service } = yield* open({
            options: { onLimitsUnavailable },
            limits: () => ({ modify: () => Effect.fail(outage) }),
            observer: (exchange) => exchanges.push(exchange)
          })
          const { secret } = yield* issue(unlimited)
          const route = routeOf(200)
          const { status } = yield* service.admit(request({ key: secret }), route)
          const isOpen = onLimitsUnavailable === "open"
          expect([status, route.runs]).toEqual(isOpen ? [200, 1] : [503, 0])
          expect(exchanges).toMatchObject([{ status, route: "/orders/{id}", outcome: undefined }])
        }
      })
  )

  it.effect("is described to observers with the status and the bytes of the host's response", () =>
    Effect.gen(function* () {
      const exchanges: Array<Exchange> = []
      const { issue, service } = yield* open({ observer: (exchange) => exchanges.push(exchange) })
      const { id, secret } = yield* issue(unlimited)
      yield* service.admit(request({ key: secret, target: "/orders/7?page=2" }), routeOf(418))
      expect(exchanges).toMatchObject([
        { status: 418, bodyBytes: 7, route: "/orders/{id}", keyId: id, outcome: "admitted" }
      ])
      expect(exchanges[0]).toMatchObject({ errorCode: undefined, isProbe: false, unknownPath: undefined })
    })
  )

  it.effect("does not affect /readyz, even if all its responses are 503", () =>
    Effect.gen(function* () {
      const { issue, send, service } = yield* open()
      const { secret } = yield* issue(unlimited)
      for (let count = 0; count < 10; count++) {
        expect((yield* service.admit(request({ key: secret }), routeOf(503))).status).toBe(503)
      }
      expect((yield* send({ target: "/readyz" })).status).toBe(200)
    })
  )

  it.effect("leaves probes and preflights to the service: they need no key, and the route does not run", () =>
    Effect.gen(function* () {
      const { service } = yield* open({ options: { corsOrigins: ["https://shop.example"] } })
      const route = routeOf(200)
      const preflight: Sent = {
        method: "OPTIONS",
        target: "/orders",
        headers: [
          ["Origin", "https://shop.example"],
          ["Access-Control-Request-Method", "POST"]
        ]
      }
      for (const [sent, status] of [
        [{ target: "/livez" }, 200],
        [preflight, 204]
      ] as const) {
        const response = new TestResponse(yield* service.admit(request(sent), route), undefined)
        expect([response.status, response.header("X-RateLimit-Limit")]).toEqual([status, undefined])
      }
      expect(route.runs).toBe(0)
    })
  )
})
