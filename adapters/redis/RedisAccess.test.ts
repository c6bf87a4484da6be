/** Checks the permissions that a user of Redis needs, as docs/operating.md lists them. */
import { readFileSync } from "node:fs"
import * as Effect from "effect/Effect"
import { expect, it } from "vitest"
import * as Nodes from "./Nodes.fixture.ts"
import * as RedisServers from "./RedisServers.fixture.ts"

const page = readFileSync(new URL("../../docs/operating.md", import.meta.url), "utf8")

const permissions = [
  ...(/needs the permissions([^.]*)\./s.exec(page)?.[1]?.matchAll(/`([^`]+)`/g) ?? [])
].flatMap(([, text = ""]) => text.split(" "))

for (const kind of RedisServers.kinds) {
  RedisServers.describeOn(kind, "a user with the documented permissions", () => {
    for (const topology of Nodes.topologies) {
      const deployment = Nodes.forAllTests(() => Nodes.startDeployment(kind, topology))

      it(`can use the store in a ${topology}, but no other command or key`, async () => {
        const user = ["ACL", "SETUSER", "limiter", "on", ">s3cret", "resetkeys", "nocommands", ...permissions]
        const addresses = deployment().address.replace("redis://", "").split(",")
        for (const address of addresses) {
          const client = await RedisServers.connect(`redis://${address}`)
          await client.send(...user)
          client.close()
        }
        const address = `redis://limiter:s3cret@${addresses.join(",")}`
        const policy = { plan: { perMinute: 1, perDay: 10 }, ban: undefined }
        await Nodes.inScope(
          Effect.gen(function* () {
            const store = yield* Nodes.open(address, { clock: "database", maxAnonymousStates: 1_000 })
            for (const caller of ["key:a", "network:192.0.2.1"]) {
              for (const outcome of ["admitted", "limited"]) {
                expect((yield* Nodes.consume(store, caller, 0, policy)).outcome).toBe(outcome)
              }
              expect(yield* store.modify(caller, (state) => [state?.used, state ?? expect.fail()])).toBe(1)
            }
            const callers = Array.from({ length: 30 }, (_, index) => `network:${index}`)
            const read = store.read?.(["key:a", ...callers], 0) ?? Effect.die("the store has no read")
            expect((yield* read).states.size).toBe(1)
            const networks = Array.from({ length: 2_000 }, (_, index) => `network:${index}`)
            yield* Effect.forEach(networks, (caller) => Nodes.consume(store, caller, 0, policy), {
              concurrency: "unbounded"
            })
          })
        )
        const client = await RedisServers.connect(`redis://limiter:s3cret@${addresses[0]}`)
        await expect(client.send("FLUSHALL")).rejects.toThrow("NOPERM")
        await expect(client.send("GET", "other")).rejects.toThrow("NOPERM")
        client.close()
      })
    }
  })
}
