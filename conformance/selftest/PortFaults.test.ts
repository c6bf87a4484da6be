import { faults } from "./Faults.ts"
import { describeFaults } from "./SelfTest.fixture.ts"

describeFaults(
  "a fault of a store",
  faults.filter(({ where }) => where.at === "port")
)
