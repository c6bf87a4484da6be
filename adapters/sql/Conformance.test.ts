import { sharedNode, testAdminTokens, testCachedKeys, testStores } from "./Conformance.fixture.ts"
import { kinds } from "./Databases.fixture.ts"

// Few of the random cases, because each takes a while.
const options = { seed: 1, effort: 0.2 }

for (const kind of kinds) {
  testStores(kind, { ...options, exclude: ["*.interruption"] }, sharedNode)
  // An interrupted write may end after its case, and would then be seen by the next case on the same node.
  testStores(kind, { ...options, only: ["*.interruption"] })
  testAdminTokens(kind, { ...options, exclude: ["*.interruption"] })
  testCachedKeys(kind, { ...options, only: ["keys-store.find.*", "keys-store.update.*"] })
}
