/** Runs a command in this process, with its own environment variables, and collects what it prints. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Console from "effect/Console"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Output from "./Output.ts"
import type { Environment } from "./Serve.fixture.ts"

export interface CommandResult {
  readonly isSuccess: boolean
  readonly stdout: string
  readonly stderr: string
}

/** Runs `command` with the arguments after its name. */
export const runCommand = async <const Name extends string, Input>(
  command: Command.Command<Name, Input, object, unknown, NodeServices.NodeServices>,
  args: ReadonlyArray<string>,
  environment: Environment = {}
): Promise<CommandResult> => {
  const printed = { stdout: "", stderr: "" }
  const collector: Console.Console = {
    ...globalThis.console,
    log: (...texts: ReadonlyArray<unknown>) => {
      printed.stdout += `${texts.join(" ")}\n`
    },
    error: (...texts: ReadonlyArray<unknown>) => {
      printed.stderr += `${texts.join(" ")}\n`
    }
  }
  const exit = await Effect.runPromiseExit(
    Command.runWith(command, { version: "0" })(args).pipe(
      Effect.provide(
        Layer.mergeAll(
          NodeServices.layer,
          Output.layer("text"),
          ConfigProvider.layer(ConfigProvider.fromEnv({ env: environment }))
        )
      ),
      Effect.provideService(Console.Console, collector)
    )
  )
  return { isSuccess: Exit.isSuccess(exit), ...printed }
}
