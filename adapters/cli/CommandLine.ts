/** The command line: all commands, the services that they need, and their exit codes. */
import { Console as NodeConsole } from "node:console"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Console from "effect/Console"
import * as CliConfig from "effect/cli/CliConfig"
import * as Command from "effect/cli/Command"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import packageJson from "../../package.json" with { type: "json" }
import { admin } from "./Admin.ts"
import * as CommandExit from "./CommandExit.ts"
import { descriptions } from "./Descriptions.ts"
import { Host } from "./Host.ts"
import { keys } from "./Keys.ts"
import * as Output from "./Output.ts"
import { serve } from "./Serve.ts"
import * as ServeFlags from "./ServeFlags.ts"
import * as StopSignal from "./StopSignal.ts"
import * as Variables from "./Variables.ts"

/** The flags of all commands; `--log-level` is a flag of `serve`, with other values than the one of `effect/cli`. */
const config = CliConfig.make({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] })

/** Runs the command given by the arguments of the host. Interrupt it to stop a server or to abort another command. */
export const run = Effect.fnUntraced(
  function* ({ args }: Host) {
    const loadIfNamed = makeLoader(args)
    // Loaded on demand, because they would slow down server startup.
    const onDemand = yield* Effect.promise(() =>
      Promise.all([
        loadIfNamed("export", async () => (await import("./Export.ts")).exportAnimals),
        loadIfNamed("import", async () => (await import("./Import.ts")).importAnimals),
        loadIfNamed("copy", async () => (await import("./Copy.ts")).copyDatabase),
        loadIfNamed("conformance", async () => (await import("./Conformance.ts")).conformance)
      ])
    )
    yield* Command.make("animal-store").pipe(
      Command.withSubcommands([serve, keys, admin, ...onDemand]),
      (command) => Command.runWith(command, { version: packageJson.version })(args),
      Effect.onInterrupt(() => (endsItself(args) ? Effect.void : Console.error("animal-store: interrupted")))
    )
  },
  Effect.tapDefect((defect) => Effect.logFatal("animal-store failed unexpectedly", defect)),
  (command, host) =>
    command.pipe(
      Effect.provide(Output.layer(ServeFlags.logFormatOf(host))),
      Effect.provideService(Host, host),
      Effect.provideService(CliConfig.CliConfig, config),
      Effect.provideService(
        ConfigProvider.ConfigProvider,
        ConfigProvider.fromEnv({ env: Variables.withoutServiceLinks(host.env) })
      ),
      Effect.provideService(Console.Console, new NodeConsole({ stdout: host.stdout, stderr: host.stderr }))
    )
)

type OnDemand = keyof typeof descriptions

/**
 * Loads a command if its name is among `args`, or if completions need all commands; otherwise returns only its name and
 * description for the help.
 */
const makeLoader =
  (args: ReadonlyArray<string>) =>
  async <Name extends OnDemand, Loaded>(name: Name, load: () => Promise<Loaded>) =>
    args.some((arg) => arg === name || arg.startsWith("--completions"))
      ? await load()
      : Command.make(name).pipe(Command.withDescription(descriptions[name]))

/** Whether a command reports an interruption itself, or is a server, for which it is the normal end. */
const endsItself = ([name = ""]: ReadonlyArray<string>): boolean =>
  ["serve", "import", "copy", "conformance"].includes(name)

/**
 * Returns the function that determines the exit code of a command. An interrupted server exits with 0, because
 * supervisors treat other codes as a crash; every other command has left its work unfinished.
 */
export const teardown =
  ([name = ""]: ReadonlyArray<string>): Runtime.Teardown =>
  (exit, onExit) =>
    Runtime.defaultTeardown(exit, (code) => {
      if (code === StopSignal.INTERRUPTED) return onExit(name === "serve" ? 0 : code)
      // For `conformance`, 1 means "not conformant", so usage errors exit with 2.
      const usageError = name === "conformance" ? 2 : 1
      onExit(code === 1 && !CommandExit.isCommandExit(exit) ? usageError : code)
    })
