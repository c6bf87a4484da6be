import { expect, it } from "vitest"
import * as Databases from "../../adapters/sql/Databases.fixture.ts"
import * as RollingRestart from "./scenarios/RollingRestart.ts"

for (const kind of Databases.kinds) {
  Databases.describeOn(kind, "a rolling restart behind a load balancer", () => {
    it("loses no request, and stores exactly the acknowledged animals", async () => {
      const { address } = await Databases.createForTest(kind)
      const tally = await RollingRestart.run(address, { nodes: 2, requests: 2_000 })
      expect(tally).toMatchObject({ lost: 0, failures: [], stored: tally.acknowledged })
      expect(tally.restarts).toBeGreaterThanOrEqual(2)
      expect(tally.requests).toBeGreaterThanOrEqual(2_000)
      expect(tally.acknowledged).toBeGreaterThan(500)
    }, 240_000)
  })
}
