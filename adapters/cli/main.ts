/** Runs the command line in this process. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as LogFormat from "../log/LogFormat.ts"
import * as LogSink from "../log/LogSink.ts"
import * as CommandLine from "./CommandLine.ts"
import * as Host from "./Host.ts"
import * as ServeFlags from "./ServeFlags.ts"
import * as StopSignal from "./StopSignal.ts"

// `runMain` handles SIGINT and SIGTERM only. Without this, closing the terminal would kill the server immediately.
process.on("SIGHUP", () => process.emit("SIGTERM", "SIGTERM"))

StopSignal.install(process)

// Commands continue if they cannot write to standard error, for example because of a full disk or a closed pipe.
LogSink.ignoreErrors(process.stderr)

const host = Host.current()

// Replaces Node's own listener, which prints warnings, such as those about experimental modules, as prose.
if (ServeFlags.logFormatOf(host) === "json") {
  process.removeAllListeners("warning").on("warning", ({ message, name }) => {
    const event = { time: Date.now(), level: "warn", message: `${name}: ${message}`, fields: {} } as const
    host.stderr.write(`${LogFormat.json(event)}\n`)
  })
}

NodeRuntime.runMain(Effect.provide(CommandLine.run(host), NodeServices.layer), {
  disableErrorReporting: true,
  teardown: CommandLine.teardown(host.args)
})
