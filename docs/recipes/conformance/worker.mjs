/** The service on workerd, with the keys and the clock that the conformance suite needs. */

import { DurableObject } from "cloudflare:workers"
import { KeyLifecycle, Service } from "animal-store/core"
import { FetchHandler } from "animal-store/http-fetch"
import { Memory } from "animal-store/memory"
import * as Clock from "effect/Clock"
import * as Digest from "effect/crypto/Digest"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"

let ahead = 0
const now = () => Date.now() + ahead

const clock = (machine) => ({
  currentTimeMillisUnsafe: now,
  currentTimeMillis: Effect.sync(now),
  currentTimeNanosUnsafe: () => BigInt(now()) * 1_000_000n,
  currentTimeNanos: Effect.sync(() => BigInt(now()) * 1_000_000n),
  monotonicTimeNanosUnsafe: () => machine.monotonicTimeNanosUnsafe(),
  monotonicTimeNanos: machine.monotonicTimeNanos,
  sleep: (duration) => machine.sleep(duration)
})

const StoreLive = Service.layer().pipe(
  Layer.provideMerge(Memory.layerWith({ clock: "service" })),
  Layer.provideMerge(Layer.mergeAll(Digest.layerWebCrypto, SecureRandom.layerWebCrypto)),
  Layer.provideMerge(Layer.effect(Clock.Clock, Effect.map(Clock.Clock, clock)))
)

export class AnimalStore extends DurableObject {
  #handle

  constructor(state, env) {
    super(state, env)
    state.blockConcurrencyWhile(() => this.#open())
  }

  async #open() {
    const runtime = ManagedRuntime.make(StoreLive)
    const issue = async (perMinute, perDay) => {
      const limits = { perMinute, perDay }
      const { secret } = await runtime.runPromise(KeyLifecycle.issue({ plan: "Enterprise", limits }))
      return Redacted.value(secret)
    }
    this.#handle = await runtime.runPromise(FetchHandler.make())
    console.log(
      JSON.stringify([await issue(100_000, 10_000_000), await issue(5, 40), await issue(3, 10_000)])
    )
  }

  async fetch(request) {
    const { pathname } = new URL(request.url)
    if (pathname === "/clock/advance") ahead += (await request.json()).ms
    return pathname.startsWith("/clock") ? Response.json({ now: now() }) : this.#handle(request)
  }
}

export default {
  fetch: (request, env) => env.STORE.get(env.STORE.idFromName("store")).fetch(request)
}
