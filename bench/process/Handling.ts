/**
 * Measures `Service.handle` in memory without a host, in its own process, and sends the figures. Argument: the path of
 * the checkout to measure; if empty, this one.
 */
import type { ServiceRequest } from "../../core/service/ServiceRequest.ts"
import * as Checkout from "../Checkout.ts"
import { statuses, UNREACHABLE_LIMIT } from "../http/Catalogue.ts"
import * as Spread from "../Spread.ts"
import type { HandlingFigures } from "./Process.ts"
import { BATCH, gc, time, use } from "./Timing.ts"

const load = <A>(path: string): Promise<A> => Checkout.load<A>(path, process.argv[2])
const effect = "node_modules/effect/dist"
const Effect = await load<typeof import("effect/Effect")>(`${effect}/Effect.js`)
const Layer = await load<typeof import("effect/Layer")>(`${effect}/Layer.js`)
const ManagedRuntime = await load<typeof import("effect/ManagedRuntime")>(`${effect}/ManagedRuntime.js`)
const Redacted = await load<typeof import("effect/Redacted")>(`${effect}/Redacted.js`)
const SecureRandom = await load<typeof import("effect/crypto/SecureRandom")>(
  `${effect}/crypto/SecureRandom.js`
)
const Core = await load<typeof import("../../core/index.ts")>("core/index.ts")
const { Memory } = await load<typeof import("../../adapters/memory/index.ts")>("adapters/memory/index.ts")
const NodeDigest = await load<typeof import("../../adapters/embed/NodeDigest.ts")>(
  "adapters/embed/NodeDigest.ts"
)

const KEYS = 1_000
const ANIMALS = 3_000
/** Number of calls whose allocations are measured at once: they must not fill the young generation. */
const ALLOCATING = 300
const ALLOCATIONS = 9

const unlimited = { perMinute: UNREACHABLE_LIMIT, perDay: UNREACHABLE_LIMIT }

const runtime = ManagedRuntime.make(
  Core.Service.layer({ anonymousPlan: unlimited }).pipe(
    Layer.provideMerge(Memory.layer),
    Layer.provideMerge(Layer.mergeAll(NodeDigest.layer, SecureRandom.layerWebCrypto))
  )
)
const secrets = await runtime.runPromise(
  Effect.all(
    Array.from({ length: KEYS }, () =>
      Effect.map(Core.KeyLifecycle.issue({ plan: "Enterprise", limits: unlimited }), ({ secret }) =>
        Redacted.value(secret)
      )
    )
  )
)
const service = await runtime.runPromise(Core.Service.Service)
const run = Effect.runCallbackWith(await runtime.context())

const noBody = Effect.succeed(new Uint8Array())

/** Creates different requests of one kind. */
const requestsOf = (
  method: string,
  targetOf: (index: number) => string,
  { body, hasKey }: { readonly body?: (index: number) => string; readonly hasKey: boolean }
): ReadonlyArray<ServiceRequest> =>
  Array.from({ length: KEYS }, (_, index) => {
    const headers = new Map(hasKey ? [["authorization", `Bearer ${secrets[index]}`]] : [])
    if (body !== undefined) headers.set("content-type", "application/json")
    const bytes = body && Effect.succeed(new TextEncoder().encode(body(index)))
    return {
      method,
      target: targetOf(index),
      header: (name) => headers.get(name),
      clientAddress: `127.0.0.${1 + (index % 250)}`,
      body: () => bytes ?? noBody
    }
  })

/** Handles a request, as a host does in a fiber of its own. */
const handle = (request: ServiceRequest | undefined): void => {
  if (request === undefined) throw new Error("there is no such request")
  run(service.handle(request), { onExit: use })
}

/** Returns the bytes that a call allocates: the median of several batches, each after a garbage collection. */
const allocated = (requests: ReadonlyArray<ServiceRequest>): number => {
  const bytes = Array.from({ length: ALLOCATIONS }, () => {
    gc()
    const before = process.memoryUsage().heapUsed
    for (let index = 0; index < ALLOCATING; index++) handle(requests[index])
    return (process.memoryUsage().heapUsed - before) / ALLOCATING
  })
  return Spread.median(bytes)
}

const microsOf = (requests: ReadonlyArray<ServiceRequest>): number =>
  time(() => {
    for (let call = 0; call < BATCH; call++) handle(requests[call])
  }) / 1_000

const creations = requestsOf("POST", () => "/v1/pets", {
  body: (index) => JSON.stringify({ name: `Rex ${index}`, categoryId: index, status: statuses[index % 3] }),
  hasKey: true
})
for (let index = 0; index < ANIMALS; index++) handle(creations[index % KEYS])
const gets = requestsOf("GET", (index) => `/v1/pets/${1 + ((index * 7) % ANIMALS)}`, { hasKey: true })
const lists = requestsOf("GET", () => "/v1/pets", { hasKey: true })
const withoutKey = requestsOf("GET", (index) => `/v1/pets/${1 + index}`, { hasKey: false })

// Creations are last, because their animals stay in memory. Memory is measured when the code is optimized.
const figures: HandlingFigures = {
  getMicros: microsOf(gets),
  getBytes: allocated(gets),
  listMicros: microsOf(lists),
  listBytes: allocated(lists),
  unauthorizedMicros: microsOf(withoutKey),
  unauthorizedBytes: allocated(withoutKey),
  createMicros: microsOf(creations),
  createBytes: allocated(creations)
}
process.send?.(figures, () => process.exit())
