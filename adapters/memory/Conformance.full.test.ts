import { testMemory } from "./Conformance.fixture.ts"

testMemory({ effort: 10 })
