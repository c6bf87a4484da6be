/**
 * Creates a target from stores behind the service of the core, in process and with its own clock, so that checks of
 * servers also apply to storage adapters.
 */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as KeyChange from "../../core/access/KeyChange.ts"
import * as KeyLifecycle from "../../core/access/KeyLifecycle.ts"
import * as BanPolicy from "../../core/limits/BanPolicy.ts"
import type { Plan } from "../../core/limits/Plan.ts"
import type { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import type { PetRepository } from "../../core/ports/PetRepository.ts"
import type { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import * as Service from "../../core/service/Service.ts"
import type * as ServiceOptions from "../../core/service/ServiceOptions.ts"
import { BodyTooLarge } from "../../core/service/ServiceRequest.ts"
import { pairs } from "../../core/service/ServiceResponse.ts"
import type { ServerClock } from "../http/ServerClock.ts"
import { bytes, headerValues, type Transport } from "../http/Wire.ts"
import type { HttpTarget } from "../subjects/HttpSubject.ts"

export interface ServiceTargetOptions {
  readonly name: string
  readonly stores: Layer.Layer<PetRepository | RateLimitStore | ApiKeyStore, unknown>
  readonly options?: Partial<ServiceOptions.ServiceOptions> | undefined
  readonly ban?: BanPolicy.BanPolicy | undefined
  /** Derives the clock of the service from the clock that the suite moves; by default they are the same. */
  readonly clock?: ((suiteClock: Clock.Clock) => Clock.Clock) | undefined
}

/** A target whose time can be read synchronously. */
export interface ServiceTarget extends HttpTarget {
  /** The time of the clock that the suite moves, in epoch milliseconds. */
  readonly nowUnsafe: () => number
}

/** The time at which the clock starts: a morning long before the removal of getPet. */
export const MORNING = Date.UTC(2026, 11, 1, 9)

/** The plans of the suite's keys. */
export const plans = {
  main: { perMinute: 100_000, perDay: 10_000_000 },
  tiny: { perMinute: 5, perDay: 40 },
  victim: { perMinute: 3, perDay: 10_000 }
} as const satisfies { readonly [key: string]: Plan }

/** Creates a clock of a server whose time stands still until it is advanced, with its time. */
export const stoppedTime = (begin: number) => {
  let now = begin
  const controls: ServerClock = {
    isLocal: true,
    now: Effect.sync(() => now),
    advance: (ms) =>
      Effect.sync(() => {
        now += ms
        return now
      })
  }
  return { controls, now: () => now }
}

/** Creates a clock whose time stands still until it is advanced; sleeps and monotonic time are those of the machine. */
export const stoppedClock = (machine: Clock.Clock, begin: number) => {
  const { controls, now } = stoppedTime(begin)
  const clock: Clock.Clock = {
    currentTimeMillisUnsafe: now,
    currentTimeMillis: Effect.sync(now),
    currentTimeNanosUnsafe: () => BigInt(now()) * 1_000_000n,
    currentTimeNanos: Effect.sync(() => BigInt(now()) * 1_000_000n),
    monotonicTimeNanosUnsafe: () => machine.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: machine.monotonicTimeNanos,
    sleep: (duration) => machine.sleep(duration)
  }
  return { clock, controls }
}

/** Creates a service over the stores, with the keys that the suite needs; it is closed with the scope. */
export const make = Effect.fnUntraced(function* ({
  ban = BanPolicy.standard,
  clock: clockFrom = (suiteClock) => suiteClock,
  name,
  options,
  stores
}: ServiceTargetOptions): Effect.fn.Return<ServiceTarget, unknown, Scope.Scope> {
  const { clock: suiteClock, controls } = stoppedClock(yield* Clock.Clock, MORNING)
  const clock = clockFrom(suiteClock)
  const crypto = Layer.mergeAll(NodeCrypto.layer, SecureRandom.layerWebCrypto)
  const context = yield* Layer.build(
    Service.layer(options).pipe(
      Layer.provideMerge(Layer.fresh(stores)),
      Layer.provideMerge(crypto),
      Layer.provideMerge(Layer.succeed(BanPolicy.BanPolicy, ban)),
      Layer.provideMerge(Layer.succeed(Clock.Clock, clock))
    )
  )
  const issue = (limits: Plan) =>
    KeyLifecycle.issue({ plan: "Enterprise", limits }).pipe(
      Effect.map(({ key, secret }) => ({ id: key.id, secret: Redacted.value(secret), ...limits })),
      Effect.provide(context)
    )
  const main = yield* issue(plans.main)
  const tiny = yield* issue(plans.tiny)
  const victim = yield* issue(plans.victim)
  const revoked = yield* issue(plans.tiny)
  yield* Effect.provide(KeyLifecycle.revoke(revoked.id), context)
  const expired = yield* issue(plans.tiny)
  yield* Effect.provide(KeyChange.change(expired.id, { expires: { inMs: 0 } }), context)

  const { handle } = Context.get(context, Service.Service)
  const transport: Transport = (request) =>
    Effect.provideService(
      Effect.map(
        handle({
          method: request.method,
          target: request.target,
          header: (wanted) => {
            const values = headerValues(request, wanted)
            return values.length === 0 ? undefined : values.join(", ")
          },
          clientAddress: "192.0.2.1",
          body: (maxBytes) => {
            const { body = bytes("") } = request
            return body.length > maxBytes ? Effect.fail(new BodyTooLarge()) : Effect.succeed(body)
          }
        }),
        ({ body, headers, status }) => ({
          status,
          headers: pairs(headers),
          body: bytes(request.method === "HEAD" ? "" : body)
        })
      ),
      Clock.Clock,
      clock
    )
  return {
    name,
    transport,
    basePath: options?.basePath ?? "/v1",
    baseUrl: undefined,
    keys: { main: main.secret, tiny, victim, revoked: revoked.secret, expired: expired.secret },
    clock: controls,
    nowUnsafe: () => suiteClock.currentTimeMillisUnsafe()
  }
})
