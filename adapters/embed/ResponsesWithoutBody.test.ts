import * as http from "node:http"
import type { AddressInfo } from "node:net"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import { expect, it, onTestFinished } from "vitest"
import * as KeyLifecycle from "../../core/access/KeyLifecycle.ts"
import * as Int64 from "../../core/domain/Int64.ts"
import * as ApiError from "../../core/errors/ApiError.ts"
import * as Operation from "../../core/operations/Operation.ts"
import * as Operations from "../../core/operations/Operations.ts"
import { type Exchange, ResponseObserver } from "../../core/service/Exchange.ts"
import * as Service from "../../core/service/Service.ts"
import * as FetchHandler from "../http-fetch/FetchHandler.ts"
import * as NodeListener from "../http-node/NodeListener.ts"
import * as Memory from "../memory/Memory.ts"
import * as NodeDigest from "./NodeDigest.ts"

const confirmPet = Operation.make({
  id: "confirmPet",
  method: "PUT",
  path: "/pets/{petId}/confirmation",
  summary: "Confirm an animal",
  description: "Confirms that an animal exists.",
  pathParameters: { petId: { description: "Identifier of the animal.", schema: { type: "integer" } } },
  success: { status: 204, description: "The animal exists." },
  errors: ["not_found"],
  run: ({ path: { petId = "" }, pets }) =>
    Effect.flatMap(pets.find(Int64.fromCanonicalText(petId) ?? 0n), (pet) =>
      Option.isNone(pet) ? Effect.fail(ApiError.make("not_found")) : Effect.succeed({})
    )
})

const readNothing = Operation.make({
  id: "readNothing",
  method: "GET",
  path: "/nothing",
  summary: "Read nothing",
  description: "Returns no body, although its program does.",
  success: { status: 204, description: "Nothing." },
  run: () => Effect.succeed({ body: "discarded" })
})

/** Opens a service with both operations, a key, a Node server and a fetch handler. */
const open = async () => {
  const exchanges: Array<Exchange> = []
  const scope = Scope.makeUnsafe()
  const layer = Service.layer({}, [...Operations.all, confirmPet, readNothing]).pipe(
    Layer.provideMerge(Layer.mergeAll(Memory.layer, NodeDigest.layer, SecureRandom.layerWebCrypto)),
    Layer.provideMerge(Layer.succeed(ResponseObserver, (exchange) => exchanges.push(exchange)))
  )
  const run = Effect.runPromiseWith(await Effect.runPromise(Layer.buildWithScope(layer, scope)))
  const server = http.createServer(await run(NodeListener.make))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await run(Scope.close(scope, Exit.void))
  })
  const handler = await run(FetchHandler.make())
  const { secret } = await run(KeyLifecycle.issue({ plan: "Free" }))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const headers = { Authorization: `Bearer ${Redacted.value(secret)}`, "Content-Type": "application/json" }
  return {
    exchanges,
    hosts: {
      node: (method: string, path: string, body?: string) =>
        fetch(origin + path, { method, headers, ...(body === undefined ? {} : { body }) }),
      fetch: (method: string, path: string, body?: string) =>
        handler(new Request(origin + path, { method, headers, ...(body === undefined ? {} : { body }) }))
    }
  }
}

it.each(["node", "fetch"] as const)(
  "an operation that responds with 204 sends rate headers, but no body, type or length, through the host %s",
  async (name) => {
    const { exchanges, hosts } = await open()
    const send = hosts[name]
    expect((await send("POST", "/v1/pets", '{"name":"Rex","categoryId":7}')).status).toBe(201)
    for (const [method, path, body] of [
      ["PUT", "/v1/pets/1/confirmation"],
      ["PUT", "/v1/pets/1/confirmation", '{"ignored":true}'],
      ["GET", "/v1/nothing"],
      ["HEAD", "/v1/nothing"]
    ] as const) {
      const response = await send(method, path, body)
      expect([method, response.status, await response.text()]).toEqual([method, 204, ""])
      expect(response.headers.get("Content-Type")).toBe(null)
      expect(response.headers.get("Content-Length")).toBe(null)
      expect(response.headers.get("X-RateLimit-Limit")).toBe("60")
      expect(response.headers.get("X-Request-Id")).toMatch(/./)
      expect(exchanges.at(-1)).toMatchObject({
        status: 204,
        bodyBytes: 0,
        errorCode: undefined,
        plan: "Free"
      })
    }
    const unknown = await send("PUT", "/v1/pets/2/confirmation")
    expect([unknown.status, await unknown.json()]).toMatchObject([404, { code: "not_found" }])
    const options = await send("OPTIONS", "/v1/pets/1/confirmation")
    expect([options.status, options.headers.get("Allow")]).toEqual([204, "PUT, OPTIONS"])
    const other = await send("GET", "/v1/pets/1/confirmation")
    expect([other.status, other.headers.get("Allow")]).toEqual([405, "PUT, OPTIONS"])
    const document = JSON.parse(await (await send("GET", "/openapi.json")).text())
    const { responses } = document.paths["/pets/{petId}/confirmation"].put
    expect(responses["204"].content).toBe(undefined)
    expect(responses["204"]).toMatchObject({
      description: "The animal exists.",
      headers: { "X-RateLimit-Limit": {} }
    })
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(["401", "404", "429", "503"]))
  }
)
