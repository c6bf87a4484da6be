import { faults } from "./Faults.ts"
import { describeFaults } from "./SelfTest.fixture.ts"
import * as SelfTest from "./SelfTest.ts"

describeFaults(
  "a fault of a server, whose check looks at the requests of other checks",
  faults.filter((fault) => fault.where.at === "http" && SelfTest.coversWholeRun(fault))
)
