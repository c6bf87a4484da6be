import { testCachedKeys, testStores } from "./Conformance.fixture.ts"
import { kinds } from "./Databases.fixture.ts"

for (const kind of kinds) {
  const effort = kind.name === "PostgreSQL" ? 0.5 : 1
  testStores(kind, { effort })
  testCachedKeys(kind, { effort })
}
