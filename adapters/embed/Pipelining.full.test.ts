import { it } from "vitest"
import { expectOrder } from "./Pipelining.fixture.ts"
import { kinds, titleEnd } from "./Stores.fixture.ts"

for (const kind of kinds) {
  it.skipIf(kind.missing !== undefined)(
    `100,000 pipelined requests on one connection get their responses in order ${titleEnd(kind)}`,
    { timeout: 600_000 },
    async () => expectOrder(await kind.address(), 100_000)
  )
}
