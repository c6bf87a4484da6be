/** Creates a service over the memory adapter with a test clock, and sends requests to it. */

import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import type * as Digest from "effect/crypto/Digest"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { Memory } from "../../adapters/memory/index.ts"
import * as KeyLifecycle from "../access/KeyLifecycle.ts"
import * as Cursor from "../codec/Cursor.ts"
import { StoreUnavailable } from "../errors/StoreUnavailable.ts"
import * as BanPolicy from "../limits/BanPolicy.ts"
import type * as Plan from "../limits/Plan.ts"
import type { Operation } from "../operations/Operation.ts"
import { ApiKeyStore } from "../ports/ApiKeyStore.ts"
import { PetRepository } from "../ports/PetRepository.ts"
import { make as makeRateLimitStore, RateLimitStore, type Steppable } from "../ports/RateLimitStore.ts"
import { Readiness } from "../ports/Readiness.ts"
import { ResponseObserver } from "./Exchange.ts"
import * as Service from "./Service.ts"
import type { ServiceOptions } from "./ServiceOptions.ts"
import { BodyConsumed, BodyTooLarge, type ServiceRequest } from "./ServiceRequest.ts"
import { type Header, pairs, type ServiceResponse } from "./ServiceResponse.ts"
import { type StaticFile, StaticFiles } from "./StaticFiles.ts"

/** The time at which tests start: noon, so that tests of minutes do not cross midnight. */
export const start = Date.UTC(2027, 0, 1, 12)

export const sunset = Date.UTC(2030, 11, 5)

export interface Setup {
  readonly options?: Partial<ServiceOptions>
  /** The operations of the service; by default the operations of the interface. */
  readonly operations?: ReadonlyArray<Operation>
  /** Epoch milliseconds of the clock; `start` by default. */
  readonly at?: number
  readonly ban?: BanPolicy.BanPolicy
  /** Functions that replace or wrap the ports of the memory adapter. */
  readonly pets?: (real: PetRepository["Service"]) => PetRepository["Service"]
  readonly limits?: (real: Steppable) => Steppable
  readonly keys?: (real: ApiKeyStore["Service"]) => ApiKeyStore["Service"]
  /** The adapter's own readiness check. */
  readonly readiness?: Effect.Effect<void, StoreUnavailable>
  /** The cursor key that the stores share. */
  readonly cursorKey?: Uint8Array
  /** Receives each exchange. */
  readonly observer?: ResponseObserver
  readonly files?: ReadonlyArray<StaticFile>
  /** Hashes keys; asynchronous by default. */
  readonly digest?: Layer.Layer<Digest.Digest>
}

export interface Sent {
  readonly method?: string
  readonly target?: string
  /** API key secret for the `Authorization` header. */
  readonly key?: string | undefined
  readonly headers?: ReadonlyArray<Header>
  /** Raw body, sent without a `Content-Type`. */
  readonly body?: string | Uint8Array
  /** Body that is sent as `application/json`. */
  readonly json?: unknown
  readonly clientAddress?: string | undefined
  /** Whether the host has already read the body. */
  readonly bodyConsumed?: boolean
}

export class TestResponse {
  readonly status: number
  readonly headers: ReadonlyArray<Header>
  readonly body: string
  /** The content of a file. */
  readonly bytes: Uint8Array | undefined
  /** The `maxBytes` with which the service read the body; `undefined` if it did not. */
  readonly requestedBytes: number | undefined

  constructor({ body, bytes, headers, status }: ServiceResponse, requestedBytes: number | undefined) {
    this.status = status
    this.headers = pairs(headers)
    this.body = body
    this.bytes = bytes
    this.requestedBytes = requestedBytes
  }

  all(name: string): ReadonlyArray<string> {
    return this.headers
      .filter(([header]) => header.toLowerCase() === name.toLowerCase())
      .map(([, value]) => value)
  }

  header(name: string): string | undefined {
    return this.all(name)[0]
  }

  number(name: string): number {
    return Number(this.header(name) ?? "NaN")
  }

  get json(): unknown {
    return JSON.parse(this.body)
  }

  /** The `code` of an error body. */
  get code(): unknown {
    const { json } = this
    return typeof json === "object" && json !== null && "code" in json ? json.code : undefined
  }

  /** The three rate headers as numbers: limit, remaining, reset. */
  get rate(): readonly [limit: number, remaining: number, reset: number] {
    return [
      this.number("X-RateLimit-Limit"),
      this.number("X-RateLimit-Remaining"),
      this.number("X-RateLimit-Reset")
    ]
  }

  /** The target of `rel="next"`. */
  get next(): string | undefined {
    return this.all("Link")
      .map((link) => /^<([^>]*)>; rel="next"$/.exec(link)?.[1])
      .find((target) => target !== undefined)
  }
}

const encoder = new TextEncoder()

export const request = (sent: Sent, onBody: (maxBytes: number) => void = () => undefined): ServiceRequest => {
  const { body, bodyConsumed, headers = [], json, key, method, target } = sent
  const fields: Array<Header> = [...headers]
  if (key !== undefined) fields.push(["Authorization", `Bearer ${key}`])
  if (json !== undefined) fields.push(["Content-Type", "application/json"])
  const content = json === undefined ? (body ?? "") : JSON.stringify(json)
  const bytes = typeof content === "string" ? encoder.encode(content) : content
  return {
    method: method ?? "GET",
    target: target ?? "/v1/pets",
    clientAddress: "clientAddress" in sent ? sent.clientAddress : "192.0.2.1",
    header: (name) => {
      const values = fields.filter(([header]) => header.toLowerCase() === name).map(([, value]) => value)
      return values.length === 0 ? undefined : values.join(", ")
    },
    body: (maxBytes) =>
      Effect.suspend((): Effect.Effect<Uint8Array, BodyTooLarge | BodyConsumed> => {
        onBody(maxBytes)
        if (bodyConsumed === true) return Effect.fail(new BodyConsumed())
        return bytes.length > maxBytes ? Effect.fail(new BodyTooLarge()) : Effect.succeed(bytes)
      })
  }
}

export interface TestStore {
  readonly service: Service.Service["Service"]
  readonly send: (sent?: Sent) => Effect.Effect<TestResponse>
  readonly issue: (
    options: Plan.PlanName | KeyLifecycle.IssueOptions
  ) => Effect.Effect<{ readonly id: string; readonly secret: string }>
  readonly rotate: (id: string, overlapMs: number) => Effect.Effect<string>
  readonly revoke: (id: string) => Effect.Effect<void>
  /** The log entries of the service. */
  readonly logs: ReadonlyArray<string>
}

/** Creates a service with empty stores and sets the clock to `setup.at`, `start` by default. */
export const open = Effect.fnUntraced(function* (
  setup: Setup = {}
): Effect.fn.Return<TestStore, never, Scope.Scope> {
  yield* TestClock.setTime(setup.at ?? start)
  const logs: Array<string> = []
  const collect = Logger.make(({ cause, fiber, message }) => {
    const annotations = fiber.getRef(References.CurrentLogAnnotations)
    logs.push(`${JSON.stringify(message)} ${Cause.pretty(cause)} ${JSON.stringify(annotations)}`)
  })
  const memory = yield* Layer.build(
    Layer.provideMerge(
      Layer.mergeAll(
        Memory.layer,
        setup.digest ?? NodeCrypto.layerDigest,
        SecureRandom.layerWebCrypto,
        Logger.layer([collect])
      ),
      Layer.succeed(BanPolicy.BanPolicy, setup.ban ?? BanPolicy.standard)
    )
  )
  const ports = Context.mergeAll(
    memory,
    Context.make(PetRepository, (setup.pets ?? identity)(Context.get(memory, PetRepository))),
    Context.make(RateLimitStore, limitsOf(setup, Context.get(memory, RateLimitStore))),
    Context.make(ApiKeyStore, (setup.keys ?? identity)(Context.get(memory, ApiKeyStore))),
    Context.make(Readiness, setup.readiness ?? Effect.void),
    Context.make(Cursor.SharedKey, setup.cursorKey),
    Context.make(ResponseObserver, setup.observer),
    Context.make(StaticFiles, setup.files ?? [])
  )
  const service = yield* Effect.orDie(
    Effect.provideContext(Service.make(setup.options, setup.operations), ports)
  )
  return {
    service,
    logs,
    send: (sent = {}) =>
      Effect.suspend(() => {
        let requestedBytes: number | undefined
        const handled = service.handle(
          request(sent, (maxBytes) => {
            requestedBytes = maxBytes
          })
        )
        return Effect.map(
          Effect.provideContext(handled, memory),
          (response) => new TestResponse(response, requestedBytes)
        )
      }),
    issue: (options) =>
      KeyLifecycle.issue(typeof options === "string" ? { plan: options } : options).pipe(
        Effect.provideContext(memory),
        Effect.map(({ key, secret }) => ({ id: key.id, secret: Redacted.value(secret) })),
        Effect.orDie
      ),
    rotate: (id, overlapMs) =>
      KeyLifecycle.rotate(id, overlapMs).pipe(
        Effect.provideContext(memory),
        Effect.map(({ secret }) => Redacted.value(secret)),
        Effect.orDie
      ),
    revoke: (id) => KeyLifecycle.revoke(id).pipe(Effect.provideContext(memory), Effect.asVoid, Effect.orDie)
  }
})

const identity = <A>(real: A): A => real

/** Returns the store that a setup replaces or wraps; wrapped stores count with their `modify`. */
const limitsOf = ({ limits }: Setup, real: RateLimitStore["Service"]): RateLimitStore["Service"] => {
  const { consume, ...steppable } = real
  return limits === undefined ? real : makeRateLimitStore(limits(steppable))
}

/** Runs a program of a property with its own scope and test clock. */
export const run = <A, E>(program: Effect.Effect<A, E, Scope.Scope>): Promise<A> =>
  Effect.runPromise(Effect.provide(Effect.scoped(program), TestClock.layer()))

export const outage = new StoreUnavailable({ retryable: true, cause: "the driver says: password=hunter2" })

/** Returns an unavailable store: every method fails. */
export const failing = <Port extends object>(real: Port): Port => replaceMethods(real, Effect.fail(outage))

/** Returns a store with a defect in every method. */
export const dying = <Port extends object>(real: Port): Port =>
  replaceMethods(real, Effect.die(new Error("a bug in the store: password=hunter2")))

const replaceMethods = <Port extends object>(
  real: Port,
  result: Effect.Effect<never, StoreUnavailable>
): Port =>
  new Proxy(real, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name)
      if (member === undefined) return undefined
      return typeof member === "function" ? () => result : result
    }
  })

/** A valid request body (contract §2). */
export const newPet = { name: "Rex", categoryId: 7 } as const

/** A plan that tests never exhaust. */
export const ample: Plan.Plan = { perMinute: 1_000_000_000, perDay: 1_000_000_000 }

export const enterprise = (perMinute: number, perDay: number): KeyLifecycle.IssueOptions => ({
  plan: "Enterprise",
  limits: { perMinute, perDay }
})

export const unlimited = enterprise(ample.perMinute, ample.perDay)

/** Returns a function that inserts `count` animals directly into the store. */
export const stocked =
  (count: number): NonNullable<Setup["pets"]> =>
  (real) => {
    for (let index = 0; index < count; index++) {
      const status = (["available", "pending", "sold"] as const)[index % 3] ?? "available"
      Effect.runSync(real.insert({ name: `animal ${index + 1}`, categoryId: BigInt(index), status }))
    }
    return real
  }
