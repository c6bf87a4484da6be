import { testStore } from "./Conformance.fixture.ts"
import * as RedisServers from "./RedisServers.fixture.ts"

// Few of the random cases, because each takes a while.
testStore(RedisServers.redis, "server", { seed: 1, effort: 0.2 })
