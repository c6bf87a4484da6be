#!/usr/bin/env node
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as References from "effect/References"
import * as Runtime from "effect/Runtime"
import packageJson from "../../package.json" with { type: "json" }
import * as LogSink from "../log/LogSink.ts"
import * as Ended from "./Ended.ts"
import { keys } from "./Keys.ts"
import * as Output from "./Output.ts"
import { serve } from "./Serve.ts"

// A server that is stopped by a signal has not failed: a supervisor would take any other code for a crash.
const INTERRUPTED = 130

// By default Node ends at once when its terminal is closed. `runMain` handles the other two signals.
process.on("SIGHUP", () => process.emit("SIGTERM", "SIGTERM"))

const isConformance = process.argv[2] === "conformance"

// The suite tells "not conformant" by 1, so that its own misuse must be something else.
const MISUSED = isConformance ? 2 : 1

// A command goes on when its messages cannot be written, on a full disk or to a closed pipe.
LogSink.ignoreErrors(process.stderr)

const teardown: Runtime.Teardown = (exit, onExit) =>
  Runtime.defaultTeardown(exit, (code) => {
    if (code === INTERRUPTED) return onExit(isConformance ? INTERRUPTED : 0)
    onExit(code === 1 && !Ended.isEnd(exit) ? MISUSED : code)
  })

// It takes a while to load, which a server that starts must not pay for.
const conformance = isConformance
  ? (await import("./Conformance.ts")).conformance
  : Command.make("conformance").pipe(
      Command.withDescription("Prove that a server keeps the contract, whatever it is written in.")
    )

Command.make("animal-store").pipe(
  Command.withSubcommands([serve, keys, conformance]),
  Command.run({ version: packageJson.version }),
  Effect.tapDefect((defect) => Effect.logFatal("animal-store failed unexpectedly", defect)),
  Effect.provide([NodeServices.layer, Output.layer]),
  Effect.provideService(References.LogToStderr, true),
  NodeRuntime.runMain({ disableErrorReporting: true, teardown })
)
