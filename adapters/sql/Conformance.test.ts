import { testStores } from "./Conformance.fixture.ts"
import { kinds } from "./Databases.fixture.ts"

// Every boundary case, and a tenth of the random cases.
for (const kind of kinds) testStores(kind, { seed: 1, effort: 0.1 })
