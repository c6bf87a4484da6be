/** Runs the conformance suite of the ports against the store in Redis; a stopped server simulates an outage. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Conformance from "../../conformance/Conformance.ts"
import { suite } from "../../conformance/runners/Vitest.ts"
import { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import * as Nodes from "./Nodes.fixture.ts"
import * as RedisServers from "./RedisServers.fixture.ts"

for (const kind of RedisServers.kinds) {
  for (const where of Nodes.places) {
    RedisServers.describeOn(kind, `the store in a ${where}`, () => {
      const place = Nodes.forAllTests(() => Nodes.startPlace(kind, where))
      const orphan = Nodes.forAllTests(async () => {
        const ended = await Nodes.startPlace(kind, where)
        const scope = Scope.makeUnsafe()
        const store = await Effect.runPromise(Scope.provide(Nodes.open(ended.address), scope))
        await ended.stop()
        return { store, stop: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
      })
      suite(
        Conformance.ports({
          name: `the store in a ${where} of ${kind.name}`,
          rateLimitStore: Layer.unwrap(
            Effect.map(
              Effect.promise(() => place().empty()),
              () => Nodes.layer(place().address, { clock: "service" })
            )
          ),
          outage: Layer.effect(
            RateLimitStore,
            Effect.sync(() => orphan().store)
          )
        }),
        { level: "design", timeLimitMs: 60_000, effort: where === "server" ? 1 : 0.5 }
      )
    })
  }
}
