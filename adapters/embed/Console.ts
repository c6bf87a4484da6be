/** Composes the admin API and the console: a service of its own, whose callers are administrators, beside the service of the animals. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as AdminTokens from "../../core/access/AdminTokens.ts"
import { OwnPlans } from "../../core/limits/OwnPlans.ts"
import * as Plan from "../../core/limits/Plan.ts"
import type { PetRepository } from "../../core/ports/PetRepository.ts"
import { ResponseObserver } from "../../core/service/Exchange.ts"
import * as Service from "../../core/service/Service.ts"
import * as ServiceOptions from "../../core/service/ServiceOptions.ts"
import { StaticFiles } from "../../core/service/StaticFiles.ts"
import * as NodeListener from "../http-node/NodeListener.ts"
import * as MemoryRateLimitStore from "../memory/MemoryRateLimitStore.ts"
import * as PageFiles from "../pages/PageFiles.ts"
import * as AdminApi from "./AdminApi.ts"
import * as History from "./History.ts"
import * as HostOperations from "./HostOperations.ts"
import type * as Keys from "./Keys.ts"

const options: Partial<ServiceOptions.ServiceOptions> = {
  basePath: "/admin/v1",
  strict: true,
  // Requests without a valid token, per address: enough for a person, and too few to guess.
  anonymousPlan: { perMinute: 30, perDay: 10_000 },
  errors: AdminApi.errors
}

const names = ["console.css", "console.js", "keys.js", "actions.js", "history.js", "values.js"]

/** The files of the console. The paths of its scripts and style sheets are relative to `/admin`. */
const files = PageFiles.load([
  { path: "/", name: "console.html" },
  ...names.map((name) => ({ path: `/${name}`, name })),
  { path: "/lit-html.js", name: "lit-html.js", origin: "lit-html" },
  { path: "/oat.css", name: "oat.min.css", origin: "@knadh/oat" }
])

/** Creates the listener. The metrics are read every ten seconds until the scope closes. */
export const make = Effect.fnUntraced(function* (readMetrics: History.ReadMetrics) {
  const operations = yield* HostOperations.make(
    AdminApi.operations({
      run: Effect.runPromiseWith(yield* Effect.context<Keys.Services | PetRepository>()),
      plans: { ...Plan.standard, ...(yield* OwnPlans) },
      history: yield* History.make(readMetrics)
    }),
    yield* Effect.fromResult(ServiceOptions.resolve(options))
  )
  const settings = Layer.mergeAll(
    Layer.effectContext(AdminTokens.services),
    MemoryRateLimitStore.layer,
    // The metrics and the access log are those of the service.
    Layer.succeed(ResponseObserver, undefined),
    Layer.succeed(StaticFiles, yield* Effect.orDie(files))
  )
  const layer = Layer.provide(Service.layer(options, operations), settings)
  // Otherwise parts of the service of the animals would be used again, such as the record of when keys were last used.
  const service = yield* Layer.build(Layer.fresh(layer))
  return yield* Effect.provide(NodeListener.make, service)
})
