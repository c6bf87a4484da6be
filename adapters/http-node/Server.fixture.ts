/** Starts test servers with memory stores on free loopback ports, with a fixed clock. */
import { setImmediate } from "node:timers/promises"
import * as V8 from "node:v8"
import { runInNewContext } from "node:vm"
import * as Clock from "effect/Clock"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import { expect, onTestFinished } from "vitest"
import * as KeyLifecycle from "../../core/access/KeyLifecycle.ts"
import * as BanPolicy from "../../core/limits/BanPolicy.ts"
import type { Plan } from "../../core/limits/Plan.ts"
import { PetRepository } from "../../core/ports/PetRepository.ts"
import {
  make as makeRateLimitStore,
  RateLimitStore,
  type Steppable
} from "../../core/ports/RateLimitStore.ts"
import * as Service from "../../core/service/Service.ts"
import type { ServiceOptions } from "../../core/service/ServiceOptions.ts"
import * as NodeDigest from "../embed/NodeDigest.ts"
import * as MemoryApiKeyStore from "../memory/MemoryApiKeyStore.ts"
import * as MemoryPetRepository from "../memory/MemoryPetRepository.ts"
import * as MemoryRateLimitStore from "../memory/MemoryRateLimitStore.ts"
import * as NodeListener from "./NodeListener.ts"
import * as NodeServer from "./NodeServer.ts"
import { pet, request, responses, Wire, type WireResponse } from "./Wire.fixture.ts"

type Pets = PetRepository["Service"]

export interface Setup {
  readonly server?: Partial<NodeServer.NodeServerOptions>
  readonly service?: Partial<ServiceOptions>
  /** Wraps the repository of the memory adapter; `limits` wraps its rate-limit store. */
  readonly pets?: (real: Pets) => Pets
  readonly limits?: (real: Steppable) => Steppable
}

const noon = Date.UTC(2027, 0, 1, 12)

const fixedClock = Layer.effect(
  Clock.Clock,
  Effect.map(Clock.Clock, (systemClock) => ({
    currentTimeMillisUnsafe: () => noon,
    currentTimeMillis: Effect.succeed(noon),
    currentTimeNanosUnsafe: () => BigInt(noon) * 1_000_000n,
    currentTimeNanos: Effect.succeed(BigInt(noon) * 1_000_000n),
    monotonicTimeNanosUnsafe: () => systemClock.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: systemClock.monotonicTimeNanos,
    sleep: (duration) => systemClock.sleep(duration)
  }))
)

/** Opens the service without a server; it is closed at the end of the test. */
export const openService = async ({ limits, pets = (real) => real, service }: Setup = {}) => {
  const scope = Scope.makeUnsafe()
  const repository = Layer.provide(
    Layer.effect(PetRepository, Effect.map(PetRepository, pets)),
    MemoryPetRepository.layer
  )
  const layer = Service.layer(service).pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        MemoryApiKeyStore.layer,
        Layer.provide(
          Layer.effect(
            RateLimitStore,
            Effect.map(RateLimitStore, (real) =>
              limits === undefined ? real : makeRateLimitStore(limits({ modify: real.modify }))
            )
          ),
          MemoryRateLimitStore.layer
        ),
        repository,
        NodeDigest.layer,
        SecureRandom.layerWebCrypto
      )
    ),
    Layer.provideMerge(Layer.succeed(BanPolicy.BanPolicy, BanPolicy.standard)),
    Layer.provideMerge(fixedClock)
  )
  const run = Effect.runPromiseWith(await Effect.runPromise(Layer.buildWithScope(layer, scope)))
  const close = () => run(Scope.close(scope, Exit.void))
  onTestFinished(close)
  /** Issues a key, by default with limits that no test reaches. */
  const issue = async (limits: Partial<Plan> = {}): Promise<string> => {
    const { secret } = await run(
      KeyLifecycle.issue({
        plan: "Enterprise",
        limits: { perMinute: 100_000, perDay: 1_000_000, ...limits }
      })
    )
    return Redacted.value(secret)
  }
  return {
    run,
    scope,
    close,
    issue,
    /** A key with the default limits. */
    key: await issue(),
    /** Returns the number of stored animals, at most 100. */
    countPets: async (): Promise<number> => {
      const page = await run(
        PetRepository.use((stored) => stored.page({ limit: 100, after: undefined, status: undefined }))
      )
      return page.length
    },
    listener: () => run(NodeListener.make)
  }
}

/** Opens a service and a server; both are closed at the end of the test. */
export const serve = async (setup: Setup = {}) => {
  const service = await openService(setup)
  const { port } = await service.run(
    Scope.provide(NodeServer.make({ port: 0, ...setup.server }), service.scope)
  )
  return { ...service, port }
}

/** Like `serve`, with 100 animals whose names take six bytes for each character: a list of them has 160 kB. */
export const serveLongNames = async (setup: Setup = {}) => {
  const server = await serve(setup)
  const create = request({ key: server.key, body: pet("\u0001".repeat(255)) })
  await responses(await Wire.openAndSend(server.port, create.repeat(100)), 100)
  return server
}

/** A counter that a test can wait for. */
export class Count {
  #value = 0
  readonly #waiting: Array<readonly [value: number, resolve: () => void]> = []

  get value(): number {
    return this.#value
  }

  increment(): void {
    this.#value++
    for (const [value, resolve] of this.#waiting) if (value <= this.#value) resolve()
  }

  reaches(value: number): Promise<void> {
    return new Promise((resolve) => {
      if (value <= this.#value) resolve()
      else this.#waiting.push([value, resolve])
    })
  }
}

/** Blocks store calls until it is opened. */
export class Gate {
  readonly entered = new Count()
  readonly interrupted = new Count()
  readonly passed = new Count()
  readonly #latch = Latch.makeUnsafe(false)

  readonly pets = (real: Pets): Pets => ({
    insert: (pet) => this.#blocked(real.insert(pet)),
    find: (id) => this.#blocked(real.find(id)),
    page: (query) => this.#blocked(real.page(query))
  })

  readonly limits = (real: Steppable): Steppable => ({
    modify: (key, step) => this.#blocked(real.modify(key, step))
  })

  open(): void {
    this.#latch.openUnsafe()
  }

  #blocked<A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> {
    return Effect.suspend(() => {
      this.entered.increment()
      return Effect.andThen(
        Effect.onInterrupt(this.#latch.await, () => Effect.sync(() => this.interrupted.increment())),
        Effect.tap(effect, () => Effect.sync(() => this.passed.increment()))
      )
    })
  }
}

/** Expects an error response with the Error body, its content type and the rate-limit headers. */
export const expectError = (response: WireResponse, status: number, code: string): void => {
  expect({ status: response.status, body: response.json() }).toEqual({
    status,
    body: { code, message: expect.any(String), status }
  })
  expect(response.header("content-type")).toBe("application/json; charset=utf-8")
  for (const name of ["limit", "remaining", "reset"]) {
    expect(response.header(`x-ratelimit-${name}`), name).toMatch(/^[0-9]+$/)
  }
}

/** Expects that a server still serves requests. */
export const expectAlive = async ({ port }: { readonly port: number }): Promise<void> => {
  const response = await fetch(`http://127.0.0.1:${port}/livez`, { headers: { Connection: "close" } })
  expect(await response.json()).toEqual({ status: "live" })
}

/** Runs the garbage collector until unreachable buffers are freed. */
export const collectGarbage = async (): Promise<void> => {
  V8.setFlagsFromString("--expose-gc")
  // The flag above defines this function in new contexts.
  const collect = runInNewContext("gc") as () => void
  // A background thread frees buffers after the collection.
  for (let round = 0; round < 10; round++) {
    collect()
    await setImmediate()
  }
}
