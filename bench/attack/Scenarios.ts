/** All scenarios, in the order in which they run. */
import type { Scenario } from "./Scenario.ts"
import { anonymousFlood } from "./scenarios/AnonymousFlood.ts"
import { logOnFullDisk, logToClosedPipe } from "./scenarios/BrokenLog.ts"
import { obedientWorkers } from "./scenarios/ObedientWorkers.ts"
import { pipelinedGets } from "./scenarios/PipelinedGets.ts"
import { pipelinedPosts } from "./scenarios/PipelinedPosts.ts"
import { rollingRestart } from "./scenarios/RollingRestart.ts"
import { slowBodies, slowHeaders } from "./scenarios/SlowRequests.ts"
import { stopBySighup, stopBySigterm } from "./scenarios/StopUnderLoad.ts"
import { strictness } from "./scenarios/Strictness.ts"
import { suiteAsTarget } from "./scenarios/SuiteAsTarget.ts"
import { thousandGets, thousandPosts, thousandUnread } from "./scenarios/ThousandConnections.ts"
import { unreadResponses } from "./scenarios/UnreadResponses.ts"
import { unusablePaths } from "./scenarios/UnusablePaths.ts"

export const scenarios: ReadonlyArray<Scenario> = [
  strictness,
  pipelinedGets,
  pipelinedPosts,
  unreadResponses,
  thousandGets,
  thousandPosts,
  thousandUnread,
  slowHeaders,
  slowBodies,
  logOnFullDisk,
  logToClosedPipe,
  obedientWorkers,
  anonymousFlood,
  stopBySigterm,
  stopBySighup,
  rollingRestart,
  unusablePaths,
  suiteAsTarget
]
