/** Composes the admin API and the console: a service of its own, whose callers are administrators, beside the service of the animals. */
import * as Clock from "effect/Clock"
import type * as Digest from "effect/crypto/Digest"
import type * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { Actor } from "../../core/access/Actor.ts"
import * as AdminTokens from "../../core/access/AdminTokens.ts"
import * as KeyStatus from "../../core/access/KeyStatus.ts"
import { OwnPlans } from "../../core/limits/OwnPlans.ts"
import * as Plan from "../../core/limits/Plan.ts"
import type { InvalidOption } from "../../core/options/InvalidOption.ts"
import type { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import type { PetRepository } from "../../core/ports/PetRepository.ts"
import type { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import { ResponseObserver } from "../../core/service/Exchange.ts"
import * as Service from "../../core/service/Service.ts"
import * as ServiceOptions from "../../core/service/ServiceOptions.ts"
import { StaticFiles } from "../../core/service/StaticFiles.ts"
import * as NodeListener from "../http-node/NodeListener.ts"
import * as MemoryRateLimitStore from "../memory/MemoryRateLimitStore.ts"
import * as ConsolePage from "../pages/ConsolePage.ts"
import * as Snapshot from "../telemetry/Snapshot.ts"
import * as AdminApi from "./AdminApi.ts"
import * as History from "./History.ts"
import * as HostOperations from "./HostOperations.ts"
import * as KeyList from "./KeyList.ts"
import * as Keys from "./Keys.ts"

/** Returns a sample of the metrics of each process, by its number from 1. */
export type ReadMetrics = () => Promise<ReadonlyMap<number, Snapshot.Snapshot>>

/** Requests without a valid token, per address: enough for a person, and too few to guess. */
const ATTEMPTS: Plan.Plan = { perMinute: 30, perDay: 10_000 }

const options: Partial<ServiceOptions.ServiceOptions> = {
  basePath: "/admin/v1",
  strict: true,
  anonymousPlan: ATTEMPTS,
  errors: AdminApi.errors
}

type Ports = ApiKeyStore | PetRepository | RateLimitStore
type Services = Ports | Digest.Digest | SecureRandom.SecureRandom

/** Creates the listener. The metrics are read every ten seconds until the scope closes. */
export const make = Effect.fnUntraced(function* (
  readMetrics: ReadMetrics
): Effect.fn.Return<
  NodeListener.NodeListener,
  AdminTokens.AdminTokensUnsupported | InvalidOption,
  Services | Scope.Scope
> {
  const run = Effect.runPromiseWith(yield* Effect.context<Services>())
  let history = History.empty
  const record = Effect.gen(function* () {
    const samples = yield* Effect.promise(readMetrics)
    const total = [...samples.values()].reduce(Snapshot.add, [])
    history = History.record(history, yield* Clock.currentTimeMillis, total)
  }).pipe(
    Effect.catchCause((cause) => Effect.logWarning("the metrics of the last hour were not read", cause))
  )
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(record, Effect.sleep(History.INTERVAL_MS))))

  const resolved = yield* Effect.fromResult(ServiceOptions.resolve(options))
  const operations = yield* HostOperations.make(
    AdminApi.operations({
      keysOf: (actor) => Keys.make((program) => run(Effect.provideService(program, Actor, actor))),
      list: KeyList.make(() => run(KeyStatus.list())),
      refreshed: (keys) => run(KeyStatus.ofKeys(keys)),
      plans: { ...Plan.standard, ...(yield* OwnPlans) },
      rows: () => history.rows,
      readMetrics
    }),
    resolved
  )
  const settings = Layer.mergeAll(
    Layer.effectContext(AdminTokens.services),
    MemoryRateLimitStore.layer,
    // The metrics and the access log are those of the service.
    Layer.succeed(ResponseObserver, undefined),
    Layer.succeed(StaticFiles, yield* Effect.orDie(ConsolePage.files))
  )
  const service = yield* Layer.build(Layer.provide(Service.layer(options, operations), settings))
  return yield* Effect.provide(NodeListener.make, service)
})
