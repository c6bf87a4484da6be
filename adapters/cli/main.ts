import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as References from "effect/References"
import * as Runtime from "effect/Runtime"
import packageJson from "../../package.json" with { type: "json" }
import * as LogSink from "../log/LogSink.ts"
import * as CommandExit from "./CommandExit.ts"
import { descriptions } from "./Descriptions.ts"
import { keys } from "./Keys.ts"
import * as Output from "./Output.ts"
import { serve } from "./Serve.ts"

// The exit code of an interrupted program. A server exits with 0 instead: supervisors treat other codes as a crash.
const INTERRUPTED = 130

// `runMain` handles SIGINT and SIGTERM only. Without this, closing the terminal would kill the server immediately.
process.on("SIGHUP", () => process.emit("SIGTERM", "SIGTERM"))

const isConformance = process.argv[2] === "conformance"

/** Whether an interrupted command leaves its work unfinished. */
const isUnfinished = ["conformance", "copy", "export", "import"].includes(process.argv[2] ?? "")

// For `conformance`, 1 means "not conformant", so usage errors exit with 2.
const USAGE_ERROR = isConformance ? 2 : 1

// Commands continue if they cannot write to standard error, for example because of a full disk or a closed pipe.
LogSink.ignoreErrors(process.stderr)

const teardown: Runtime.Teardown = (exit, onExit) =>
  Runtime.defaultTeardown(exit, (code) => {
    if (code === INTERRUPTED) return onExit(isUnfinished ? INTERRUPTED : 0)
    onExit(code === 1 && !CommandExit.isCommandExit(exit) ? USAGE_ERROR : code)
  })

type OnDemand = keyof typeof descriptions

/** Loads a command if its name is among the arguments; otherwise returns only its name and description for the help. */
const ifNamed = async <Name extends OnDemand, Loaded>(name: Name, load: () => Promise<Loaded>) =>
  process.argv.slice(2).includes(name)
    ? await load()
    : Command.make(name).pipe(Command.withDescription(descriptions[name]))

// Loaded on demand, because they would slow down server startup.
const exportAnimals = await ifNamed("export", async () => (await import("./Export.ts")).exportAnimals)
const importAnimals = await ifNamed("import", async () => (await import("./Import.ts")).importAnimals)
const copyDatabase = await ifNamed("copy", async () => (await import("./Copy.ts")).copyDatabase)
const conformance = await ifNamed("conformance", async () => (await import("./Conformance.ts")).conformance)

Command.make("animal-store").pipe(
  Command.withSubcommands([serve, keys, exportAnimals, importAnimals, copyDatabase, conformance]),
  Command.run({ version: packageJson.version }),
  Effect.tapDefect((defect) => Effect.logFatal("animal-store failed unexpectedly", defect)),
  Effect.provide([NodeServices.layer, Output.layer]),
  Effect.provideService(References.LogToStderr, true),
  NodeRuntime.runMain({ disableErrorReporting: true, teardown })
)
