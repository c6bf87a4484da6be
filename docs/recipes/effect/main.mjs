import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { KeyLifecycle, Service } from "animal-store/core"
import { NodeServer } from "animal-store/http-node"
import { Memory } from "animal-store/memory"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"

// provideMerge keeps the stores and the random source for KeyLifecycle
const StoreLive = Service.layer({ strict: true }).pipe(
  Layer.provideMerge(Memory.layer),
  Layer.provideMerge(NodeCrypto.layer)
)

const program = Effect.gen(function* () {
  const { secret } = yield* KeyLifecycle.issue({ plan: "Free" })
  const { port } = yield* NodeServer.make({ port: Number(process.env.PORT ?? 3000) })
  const url = `http://127.0.0.1:${port}/v1/pets`
  yield* Console.log(`curl -H 'Authorization: Bearer ${Redacted.value(secret)}' ${url}`)
  return yield* Effect.never
})

program.pipe(Effect.scoped, Effect.provide(StoreLive), NodeRuntime.runMain)
