import { testStores } from "./Conformance.fixture.ts"
import { kinds } from "./Databases.fixture.ts"

for (const kind of kinds) testStores(kind, { effort: kind.name === "PostgreSQL" ? 0.5 : 1 })
