import { testStore } from "./Conformance.fixture.ts"
import * as RedisServers from "./RedisServers.fixture.ts"

// Every boundary case, and a tenth of the random cases.
testStore(RedisServers.redis, "server", { seed: 1, effort: 0.1 })
