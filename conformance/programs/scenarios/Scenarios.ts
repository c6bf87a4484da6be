/** Lists the scenarios in run order: programs that take deliberate time. The last ones move it far ahead. */
import type { Program } from "../Program.ts"
import * as Anonymous from "./Anonymous.ts"
import * as Bans from "./Bans.ts"
import * as Boundaries from "./Boundaries.ts"
import * as Closing from "./Closing.ts"
import * as Concurrency from "./Concurrency.ts"
import * as Day from "./Day.ts"
import * as Minute from "./Minute.ts"
import * as OurBans from "./OurBans.ts"
import * as OurLimits from "./OurLimits.ts"
import * as Removal from "./Removal.ts"

export const scenarios: ReadonlyArray<Program> = [
  ...Minute.programs,
  ...Concurrency.programs,
  ...Anonymous.programs,
  ...Day.programs,
  ...Boundaries.programs,
  ...OurLimits.programs,
  ...Bans.programs,
  ...OurBans.programs,
  ...Closing.programs,
  ...Removal.programs
]
