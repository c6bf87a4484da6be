/** Runs the conformance suite of the ports against the store in Redis; a stopped server simulates an outage. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Conformance from "../../conformance/Conformance.ts"
import type { CasesOptions } from "../../conformance/runners/Cases.ts"
import { suite } from "../../conformance/runners/Vitest.ts"
import { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import * as Nodes from "./Nodes.fixture.ts"
import * as RedisServers from "./RedisServers.fixture.ts"

/** Time for the random cases of a check, even on a slow machine. */
const TIME_LIMIT_MS = 600_000

export const testStore = (
  kind: RedisServers.Kind,
  topology: (typeof Nodes.topologies)[number],
  options: CasesOptions
): void =>
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
      { level: "design", timeLimitMs: TIME_LIMIT_MS, ...options }
    )
  })
