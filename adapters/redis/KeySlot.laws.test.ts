import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as KeySlot from "./KeySlot.ts"
import * as RedisServers from "./RedisServers.fixture.ts"

describe("KeySlot.of", () => {
  it("returns the slots that the Redis Cluster specification defines", () => {
    // The check value of CRC16 (XMODEM).
    expect(KeySlot.of("123456789")).toBe(0x31c3)
    expect(KeySlot.of("{user1000}.following")).toBe(KeySlot.of("{user1000}.followers"))
    expect(KeySlot.of("foo{}{bar}")).not.toBe(KeySlot.of("{bar}"))
    expect(KeySlot.of("foo{{bar}}zap")).toBe(KeySlot.of("{bar"))
    expect(KeySlot.of("foo{bar}{zap}")).toBe(KeySlot.of("bar"))
  })
})

for (const kind of RedisServers.kinds) {
  RedisServers.describeOn(kind, "KeySlot.of", () => {
    it("returns the slot that the server computes for any key", async () => {
      const args = ["--cluster-enabled", "yes"]
      const server = await RedisServers.startForTest(kind, args)
      const client = await server.connect()
      const text = fc.oneof(
        fc.string({ unit: "binary" }),
        fc.string({ unit: fc.constantFrom("{", "}", "a", "é", "\0") })
      )
      await fc.assert(
        fc.asyncProperty(text, async (key) => {
          expect(KeySlot.of(key)).toBe(await client.send("CLUSTER", "KEYSLOT", key))
        }),
        { numRuns: 500 }
      )
      client.close()
    })
  })
}
