import { DurableObject } from "cloudflare:workers"
import { KeyLifecycle, Service } from "animal-store/core"
import { FetchHandler } from "animal-store/http-fetch"
import { Memory } from "animal-store/memory"
import * as Digest from "effect/crypto/Digest"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"

const StoreLive = Service.layer().pipe(
  Layer.provideMerge(Memory.layer),
  Layer.provideMerge(Layer.mergeAll(Digest.layerWebCrypto, SecureRandom.layerWebCrypto))
)

/** All requests go to this one object, so they all see the same animals, keys and limits. */
export class AnimalStore extends DurableObject {
  #handle

  constructor(state, env) {
    super(state, env)
    state.blockConcurrencyWhile(() => this.#open(env))
  }

  async #open(env) {
    const runtime = ManagedRuntime.make(StoreLive)
    // Behind Cloudflare, pass { clientAddress: (request) => request.headers.get("CF-Connecting-IP") }: Cloudflare
    // overwrites that header, so clients cannot forge it.
    this.#handle = await runtime.runPromise(FetchHandler.make())
    // For trying it out only: issues a new key at each start and logs it.
    const { secret } = await runtime.runPromise(KeyLifecycle.issue({ plan: "Pro" }))
    console.log(`curl -H 'Authorization: Bearer ${Redacted.value(secret)}' '${env.ORIGIN}/v1/pets?limit=10'`)
  }

  fetch(request) {
    return this.#handle(request)
  }
}

export default {
  fetch: (request, env) => env.STORE.get(env.STORE.idFromName("store")).fetch(request)
}
