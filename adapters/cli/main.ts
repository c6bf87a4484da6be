/** Runs the command line in this process. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as LogSink from "../log/LogSink.ts"
import * as CommandLine from "./CommandLine.ts"
import * as Host from "./Host.ts"
import * as StopSignal from "./StopSignal.ts"

// `runMain` handles SIGINT and SIGTERM only. Without this, closing the terminal would kill the server immediately.
process.on("SIGHUP", () => process.emit("SIGTERM", "SIGTERM"))

StopSignal.install(process)

// Commands continue if they cannot write to standard error, for example because of a full disk or a closed pipe.
LogSink.ignoreErrors(process.stderr)

const host = Host.current()
NodeRuntime.runMain(Effect.provide(CommandLine.run(host), NodeServices.layer), {
  disableErrorReporting: true,
  teardown: CommandLine.teardown(host.args)
})
