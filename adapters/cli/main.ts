#!/usr/bin/env node
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as References from "effect/References"
import * as Runtime from "effect/Runtime"
import packageJson from "../../package.json" with { type: "json" }
import { keys } from "./Keys.ts"
import * as Output from "./Output.ts"
import { serve } from "./Serve.ts"

// A stop by SIGTERM or SIGINT is no failure: a supervisor would take any other code for a crash.
const INTERRUPTED = 130

const teardown: Runtime.Teardown = (exit, onExit) =>
  Runtime.defaultTeardown(exit, (code) => onExit(code === INTERRUPTED ? 0 : code))

Command.make("animal-store").pipe(
  Command.withSubcommands([serve, keys]),
  Command.run({ version: packageJson.version }),
  Effect.tapDefect((defect) => Effect.logFatal("animal-store failed unexpectedly", defect)),
  Effect.provide([NodeServices.layer, Output.layer]),
  Effect.provideService(References.LogToStderr, true),
  NodeRuntime.runMain({ disableErrorReporting: true, teardown })
)
