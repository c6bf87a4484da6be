/** Lists all programs in run order. Those that use up limits, cause bans or move time far ahead come last. */
import * as Callers from "./Callers.ts"
import * as Catalogue from "./Catalogue.ts"
import * as Lists from "./Lists.ts"
import * as Occasions from "./Occasions.ts"
import * as Paging from "./Paging.ts"
import type { Program } from "./Program.ts"
import * as Protocol from "./Protocol.ts"
import { scenarios } from "./scenarios/Scenarios.ts"

export const programs: ReadonlyArray<Program> = [
  ...Catalogue.programs,
  ...Callers.programs,
  ...Lists.programs,
  ...Paging.programs,
  ...Protocol.programs,
  ...Occasions.programs,
  ...scenarios,
  Occasions.afterwards
]
