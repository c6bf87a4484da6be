/** Composes the admin API and the console: a service of its own, whose callers are administrators, beside the service of the animals. */
import * as Clock from "effect/Clock"
import type * as Digest from "effect/crypto/Digest"
import type * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { Actor } from "../../core/access/Actor.ts"
import * as AdminToken from "../../core/access/AdminToken.ts"
import * as AdminTokens from "../../core/access/AdminTokens.ts"
import * as KeyStatus from "../../core/access/KeyStatus.ts"
import { OwnPlans } from "../../core/limits/OwnPlans.ts"
import * as Plan from "../../core/limits/Plan.ts"
import * as Schemas from "../../core/operations/Schemas.ts"
import type { InvalidOption } from "../../core/options/InvalidOption.ts"
import { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import type { PetRepository } from "../../core/ports/PetRepository.ts"
import type { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import { ResponseObserver } from "../../core/service/Exchange.ts"
import * as Interface from "../../core/service/Interface.ts"
import * as Service from "../../core/service/Service.ts"
import * as ServiceOptions from "../../core/service/ServiceOptions.ts"
import { StaticFiles } from "../../core/service/StaticFiles.ts"
import * as NodeListener from "../http-node/NodeListener.ts"
import * as MemoryRateLimitStore from "../memory/MemoryRateLimitStore.ts"
import * as ConsolePage from "../pages/ConsolePage.ts"
import * as AdminApi from "./AdminApi.ts"
import * as Exposition from "./Exposition.ts"
import * as History from "./History.ts"
import * as HostOperations from "./HostOperations.ts"
import * as KeyList from "./KeyList.ts"
import * as Keys from "./Keys.ts"

/** Returns a sample of the metrics of each process, by its number from 1, in the Prometheus text format. */
export type ReadMetrics = () => Promise<ReadonlyMap<number, string>>

/** What administrators see where callers of the service see the animals. */
const about: Interface.Interface = {
  info: () => ({
    title: "Animal Store Admin API",
    summary: "API keys, their usage, and the last hour of the server.",
    description:
      "Does what the commands `animal-store keys` do. Every request needs an admin token, which `animal-store admin " +
      "token` issues. Every action is an event, whose actor is the name of the token."
  }),
  credential: {
    prefix: AdminToken.PREFIX,
    realm: "admin",
    messages: {
      missing_api_key: "An admin token is required: send it as 'Authorization: Bearer <TOKEN>'.",
      invalid_api_key: "The admin token is malformed, unknown, expired or revoked."
    },
    description: "The admin token, sent as `Authorization: Bearer <TOKEN>`."
  },
  plans: {},
  schemas: (options) => {
    const { Error: error = {} } = Schemas.make(options)
    return { Error: error }
  }
}

/** Requests without a valid token, per address: enough for a person, and too few to guess. */
const ATTEMPTS: Plan.Plan = { perMinute: 30, perDay: 10_000 }

const options: Partial<ServiceOptions.ServiceOptions> = {
  basePath: "/admin/v1",
  strict: true,
  anonymousPlan: ATTEMPTS,
  errors: AdminApi.errors
}

/** The tokens as the keys of the service of administrators, which only looks them up. */
const tokenKeys: Layer.Layer<ApiKeyStore, AdminTokens.AdminTokensUnsupported, ApiKeyStore> = Layer.effect(
  ApiKeyStore,
  Effect.map(AdminTokens.store, ({ list }): ApiKeyStore["Service"] => ({
    findByHash: (hash) =>
      Effect.map(list, (tokens) => {
        const token = tokens.find((known) => known.hash === hash)
        return token === undefined ? Option.none() : Option.some(AdminToken.toKey(token))
      }),
    insert: unused,
    insertFirst: unused,
    update: unused,
    list: Effect.map(list, (tokens) => tokens.map(AdminToken.toKey))
  }))
)

const unused = (): Effect.Effect<never> => Effect.die(new Error("the pipeline only looks up keys"))

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
  const metrics = async () =>
    new Map([...(await readMetrics())].map(([worker, page]) => [worker, Exposition.parse(page)]))
  let history = History.empty
  const record = Effect.gen(function* () {
    const pages = yield* Effect.promise(metrics)
    const total = [...pages.values()].reduce(Exposition.add, Exposition.empty)
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
      metrics
    }),
    resolved
  )
  const settings = Layer.mergeAll(
    tokenKeys,
    MemoryRateLimitStore.layer,
    Layer.succeed(Interface.Interface, about),
    Layer.succeed(OwnPlans, {}),
    // The metrics and the access log are those of the service.
    Layer.succeed(ResponseObserver, undefined),
    Layer.succeed(StaticFiles, yield* Effect.orDie(ConsolePage.files))
  )
  const service = yield* Layer.build(Layer.provide(Service.layer(options, operations), settings))
  return yield* Effect.provide(NodeListener.make, service)
})
