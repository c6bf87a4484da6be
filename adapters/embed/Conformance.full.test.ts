/** Runs the conformance suite at design level against the fetch handler, and against the Node server on every store. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { suite } from "../../conformance/runners/Vitest.ts"
import * as RedisServers from "../redis/RedisServers.fixture.ts"
import { describeOn, kinds } from "../sql/Databases.fixture.ts"
import { cleanups, handlerOf, open, serve } from "./Conformance.fixture.ts"

suite(await handlerOf(await open("memory:")), { level: "design" })

suite(await serve("the Node server", "memory:"), { level: "design" })

for (const kind of kinds) {
  const scope = Scope.makeUnsafe()
  cleanups.push(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  const subject =
    kind.missing === undefined
      ? await serve("the Node server", (await Effect.runPromise(Scope.provide(kind.create, scope))).address)
      : undefined
  describeOn(kind, "the service", () => {
    if (subject !== undefined) suite(subject, { level: "design" })
  })
}

const redis =
  RedisServers.redis.missing === undefined ? await RedisServers.start(RedisServers.redis) : undefined
if (redis !== undefined) cleanups.push(redis.stop)
const withRedis =
  redis === undefined
    ? undefined
    : await serve("the Node server with limits in Redis", "memory:", redis.address)
RedisServers.describeOn(RedisServers.redis, "the service with limits", () => {
  if (withRedis !== undefined) suite(withRedis, { level: "design" })
})
