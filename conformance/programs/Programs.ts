/** Lists all programs in run order. Those that cause bans or move time far ahead come last. */
import * as Callers from "./Callers.ts"
import * as Paging from "./Paging.ts"
import type { Program } from "./Program.ts"
import * as Requests from "./Requests.ts"
import * as Situations from "./Situations.ts"
import * as Bans from "./scenarios/Bans.ts"
import * as Closing from "./scenarios/Closing.ts"
import * as Concurrency from "./scenarios/Concurrency.ts"
import * as Limits from "./scenarios/Limits.ts"

/** The programs that take deliberate time. */
export const scenarios: ReadonlyArray<Program> = [
  ...Limits.programs,
  ...Concurrency.programs,
  ...Bans.programs,
  ...Closing.programs,
  ...Limits.lastPrograms
]

export const programs: ReadonlyArray<Program> = [
  ...Requests.firstPrograms,
  ...Limits.firstPrograms,
  ...Callers.programs,
  ...Requests.programs,
  ...Situations.programs,
  ...Paging.programs,
  ...scenarios
]
