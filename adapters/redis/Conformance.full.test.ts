import { testStore } from "./Conformance.fixture.ts"
import * as Nodes from "./Nodes.fixture.ts"
import * as RedisServers from "./RedisServers.fixture.ts"

for (const kind of RedisServers.kinds) {
  for (const topology of Nodes.topologies) {
    testStore(kind, topology, { effort: topology === "server" ? 1 : 0.5 })
  }
}
