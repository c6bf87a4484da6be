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
  for (const topology of Nodes.topologies) {
    RedisServers.describeOn(kind, `the store in a ${topology}`, () => {
      const deployment = Nodes.forAllTests(() => Nodes.startDeployment(kind, topology))
      const unreachable = Nodes.forAllTests(async () => {
        const temporary = await Nodes.startDeployment(kind, topology)
        const scope = Scope.makeUnsafe()
        const store = await Effect.runPromise(Scope.provide(Nodes.open(temporary.address), scope))
        await temporary.stop()
        return { store, stop: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
      })
      suite(
        Conformance.ports({
          name: `the store in a ${topology} of ${kind.name}`,
          rateLimitStore: Layer.unwrap(
            Effect.map(
              Effect.promise(() => deployment().empty()),
              () => Nodes.layer(deployment().address, { clock: "service" })
            )
          ),
          outage: Layer.effect(
            RateLimitStore,
            Effect.sync(() => unreachable().store)
          )
        }),
        { level: "design", timeLimitMs: 60_000, effort: topology === "server" ? 1 : 0.5 }
      )
    })
  }
}
