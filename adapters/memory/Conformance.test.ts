import { testMemory } from "./Conformance.fixture.ts"

testMemory({ seed: 1 })
