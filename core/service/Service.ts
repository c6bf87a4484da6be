/** The service: one function from request to response, independent of the host. It never fails or throws. */
import * as Context from "effect/Context"
import * as Digest from "effect/crypto/Digest"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as LastSeen from "../access/LastSeen.ts"
import * as Cursor from "../codec/Cursor.ts"
import * as OwnErrors from "../errors/OwnErrors.ts"
import * as Fingerprint from "../idempotency/Fingerprint.ts"
import * as BanPolicy from "../limits/BanPolicy.ts"
import * as Clash from "../operations/Clash.ts"
import type * as Operation from "../operations/Operation.ts"
import * as Operations from "../operations/Operations.ts"
import { InvalidOption } from "../options/InvalidOption.ts"
import type { ApiKeyStore } from "../ports/ApiKeyStore.ts"
import { PetRepository } from "../ports/PetRepository.ts"
import type { RateLimitStore } from "../ports/RateLimitStore.ts"
import { ResponseStore } from "../ports/ResponseStore.ts"
import type { HostRoute } from "./HostRoute.ts"
import * as Pipeline from "./Pipeline.ts"
import * as Probes from "./Probes.ts"
import * as ServiceOptions from "./ServiceOptions.ts"
import type { ServiceRequest, TransportError } from "./ServiceRequest.ts"
import type { ServiceResponse } from "./ServiceResponse.ts"
import { StaticFiles } from "./StaticFiles.ts"

export type { TransportError } from "./ServiceRequest.ts"

/** The service; create it with `make` or `layer`. */
export class Service extends Context.Service<
  Service,
  {
    /**
     * Handles a request. It can be interrupted at any time, because writes are atomic; an operation with
     * `isUninterruptible` ends first.
     */
    readonly handle: (request: ServiceRequest) => Effect.Effect<ServiceResponse>
    /**
     * Admits a request to a route of the host as `handle` admits one: by its key and its limits, in the same order and
     * with the same responses. `route.respond` runs if the request is admitted, and only then. The result describes the
     * response of the host, or is the response to a request that is not admitted or needs no key.
     */
    readonly admit: (request: ServiceRequest, route: HostRoute) => Effect.Effect<ServiceResponse>
    /**
     * Returns the response to a transport error and, except for `service_unavailable`, counts it against the limits of
     * the client's network. `origin` is the `Origin` header, if it arrived.
     */
    readonly transportError: (
      error: TransportError,
      clientAddress: string | undefined,
      origin?: string
    ) => Effect.Effect<ServiceResponse>
    /** Makes `/readyz` return 503, so that load balancers stop sending requests; requests are still handled. */
    readonly drain: Effect.Effect<void>
    /** Whether `drain` was run; hosts then close each connection after its response. */
    readonly isDraining: () => boolean
    /** Whether the service trusts at least one proxy, which keeps idle connections for other requests. */
    readonly isBehindProxy: boolean
  }
>()("animal-store/core/service/Service") {}

type Ports = PetRepository | RateLimitStore | ApiKeyStore
type Crypto = Digest.Digest | SecureRandom.SecureRandom

/**
 * Creates a service over the ports in the context. Its requests then need only a `Clock`. `offered` defaults to
 * the operations of the interface. Operations that need a method that the store lacks are omitted.
 *
 * @internal
 */
export const make = Effect.fnUntraced(function* (
  given?: Partial<ServiceOptions.ServiceOptions>,
  offered: ReadonlyArray<Operation.Operation> = Operations.all
): Effect.fn.Return<Service["Service"], InvalidOption, Ports | Crypto> {
  const pets = yield* PetRepository
  const options = yield* Effect.fromResult(ServiceOptions.resolve(given))
  const responses = yield* ResponseStore
  const operations = offered
    .filter(({ needs }) => needs === undefined || pets[needs] !== undefined)
    .map((operation): Operation.Operation => {
      const store = operation.storesResponse ? responses : pets.insertOnce
      return { ...operation, isIdempotent: operation.isIdempotent && store !== undefined }
    })
  const ban = yield* BanPolicy.BanPolicy
  if (!BanPolicy.isValid(ban)) {
    return yield* Effect.fail(new InvalidOption({ option: "ban", reason: BanPolicy.rule.reasonFor(ban) }))
  }
  const digest = yield* Digest.Digest
  const cursorKey = options.cursorKey ?? (yield* Cursor.SharedKey) ?? (yield* randomKey)
  const runtime = {
    options,
    address: ServiceOptions.addresses(options),
    pets,
    responses,
    cursors: yield* Cursor.make(cursorKey),
    hash: (text: string) => Fingerprint.hashWith(digest, text)
  }
  const probes = yield* Probes.make(options, operations)
  const clash = Clash.first(operations, {
    basePath: options.basePath,
    unlimitedPaths: [...probes.paths, ...(yield* StaticFiles).map(({ path }) => path)],
    catalogue: OwnErrors.ofOperations(options.errors)
  })
  if (clash !== undefined) {
    return yield* Effect.fail(new InvalidOption({ option: "operations", reason: clash }))
  }
  const run = yield* Pipeline.make(runtime, operations, probes)
  return {
    handle: (request) => run(request),
    admit: (request, route) => run(request, undefined, route),
    transportError: (error, clientAddress, origin) => run(unparsed(clientAddress, origin), error),
    drain: probes.drain,
    isDraining: probes.isDraining,
    isBehindProxy: options.trustedProxyHops > 0
  }
})

/**
 * The service as a layer over its three ports and the host's hash function and random generator. It also records the
 * day on which each key was last used.
 */
export const layer = (
  options?: Partial<ServiceOptions.ServiceOptions>,
  operations?: ReadonlyArray<Operation.Operation>
): Layer.Layer<Service, InvalidOption, Ports | Crypto> =>
  Layer.provide(Layer.effect(Service, make(options, operations)), LastSeen.layer)

const randomKey = SecureRandom.SecureRandom.use((random) => random.randomBytes(32))

/** What is known of a connection without a complete request. */
const unparsed = (clientAddress: string | undefined, origin: string | undefined): ServiceRequest => ({
  method: "",
  target: "",
  header: (name) => (name === "origin" ? origin : undefined),
  clientAddress,
  body: () => Effect.succeed(new Uint8Array())
})
