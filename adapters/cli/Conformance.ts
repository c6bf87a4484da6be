/** `animal-store conformance`: tests servers in any language against the contract. */
import { readFile } from "node:fs/promises"
import * as Console from "effect/Console"
import * as Argument from "effect/cli/Argument"
import * as CliError from "effect/cli/CliError"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Configuration from "../../conformance/config/Configuration.ts"
import * as Settings from "../../conformance/config/Settings.ts"
import * as Doctor from "../../conformance/engine/Doctor.ts"
import * as Replay from "../../conformance/engine/Replay.ts"
import * as ReplayToken from "../../conformance/engine/ReplayToken.ts"
import * as Run from "../../conformance/engine/Run.ts"
import { SetupError } from "../../conformance/engine/SetupError.ts"
import { printable } from "../../conformance/http/Printable.ts"
import * as Explain from "../../conformance/reports/Explain.ts"
import * as Json from "../../conformance/reports/Json.ts"
import * as Terminal from "../../conformance/reports/Terminal.ts"
import * as Wording from "../../conformance/reports/Wording.ts"
import type { HttpSubject } from "../../conformance/subjects/HttpSubject.ts"
import * as Int64 from "../../core/domain/Int64.ts"
import * as Duration from "../../core/options/Duration.ts"
import * as BudgetFlag from "./BudgetFlag.ts"
import * as CommandExit from "./CommandExit.ts"
import { descriptions } from "./Descriptions.ts"
import { Host } from "./Host.ts"
import * as Invocation from "./Invocation.ts"
import * as Output from "./Output.ts"
import * as ReportFiles from "./ReportFiles.ts"
import * as Setting from "./Setting.ts"
import * as StatusLine from "./StatusLine.ts"

/** Exit code of commands with an invalid set-up. */
const SET_UP_ERROR = 2

const MAX_WAIT_MS = 600_000

const MAX_SEED = 2 ** 31 - 1

const levels = ["spec", "design"] as const

const parseCategory: Setting.Parse<bigint> = (text) =>
  /^-?[0-9]{1,19}$/.test(text) && Int64.is(BigInt(text))
    ? Result.succeed(BigInt(text))
    : Result.fail("must be an int64")

const optional = <A>(name: string, metavar: string, description: string, parse: Setting.Parse<A>) =>
  Flag.map(Flag.optional(Setting.make(name, metavar, description, parse)), Option.getOrUndefined)

// Keys are validated later, with the other settings, by `Settings.resolve`: its messages never contain keys.
const subjectFlags = {
  config: optional("config", "FILE", "Configuration file; flags override it.", Setting.text),
  url: optional("url", "URL", "Base URL of the server, such as http://127.0.0.1:3000/v1.", Setting.text),
  key: optional(
    "key",
    "KEY",
    "API key with limits high enough for the run; env:NAME reads an environment variable.",
    Setting.text
  ),
  tiny: optional(
    "tiny",
    "KEY:PERMINUTE:PERDAY",
    "Key with low limits that the run may exhaust: env:TINY:5:40 with a clock, env:TINY:5:1000 without.",
    Setting.text
  ),
  victim: optional(
    "victim",
    "KEY:PERMINUTE:PERDAY",
    "Key that the run may cause to be banned.",
    Setting.text
  ),
  revoked: optional("revoked", "KEY", "Revoked key.", Setting.text),
  expired: optional("expired", "KEY", "Expired key.", Setting.text),
  clock: optional(
    "clock",
    "URL",
    "URL of the server's test clock, if it has one, such as http://127.0.0.1:3001/clock.",
    Setting.text
  ),
  level: optional(
    "level",
    levels.join("|"),
    "spec checks the contract; design also checks this project's decisions where the contract is silent. Default: spec.",
    Setting.oneOf(levels)
  ),
  name: optional("name", "TEXT", "Label of this server in reports, such as staging.", Setting.text),
  implementation: optional(
    "implementation",
    "NAME",
    "Name of the software under test, such as acme-pets.",
    Setting.text
  ),
  implementationVersion: optional(
    "implementation-version",
    "VERSION",
    "Version of the implementation.",
    Setting.text
  ),
  contact: optional(
    "contact",
    "CONTACT",
    "Home page (https://…) or email address for questions about the implementation.",
    Setting.text
  ),
  budget: optional(
    "budget",
    "BUDGET",
    "Maximum number of requests and seconds. Default: 6000req,180s.",
    BudgetFlag.parse
  ),
  categories: Setting.repeated(
    "category",
    "N",
    "A categoryId that the server accepts, if it does not accept every int64; repeatable.",
    parseCategory
  ),
  noBans: Setting.toggle(
    "no-bans",
    "Declare that the server never bans keys (bans are optional: contract §8.4.3)."
  ),
  only: Setting.repeated(
    "only",
    "ID",
    "Run only these checks, given by id, pattern (list.*) or profile.",
    Setting.text
  ),
  exclude: Setting.repeated(
    "exclude",
    "ID",
    "Skip these checks; the server is then not reported as conformant.",
    Setting.text
  ),
  wait: optional(
    "wait",
    "DURATION",
    "How long to wait for the server to start, such as 30s. Default: do not wait.",
    Duration.parse(0, MAX_WAIT_MS)
  ),
  iOwnThisServer: Setting.toggle("i-own-this-server", "Allow a server that is not on this machine.")
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Converts a file error to a set-up error that names the flag. */
const toSetUpError = (flag: string) => (cause: unknown) =>
  new SetupError({ reason: `--${flag}: ${messageOf(cause)}` })

type SubjectFlags = Omit<Settings.Flags, "bans"> & {
  readonly config?: string | undefined
  readonly noBans: boolean
}

const undefinedIfEmpty = <A>(all: ReadonlyArray<A> | undefined) => (all?.length === 0 ? undefined : all)

const settingsOf = Effect.fnUntraced(function* ({ config, noBans, ...flags }: SubjectFlags) {
  const file =
    config === undefined
      ? {}
      : yield* Effect.flatMap(
          Effect.tryPromise({
            try: () => readFile(config, "utf8"),
            catch: toSetUpError("config")
          }),
          Configuration.parse
        )
  const given = {
    ...flags,
    bans: noBans ? false : undefined,
    categories: undefinedIfEmpty(flags.categories),
    only: undefinedIfEmpty(flags.only),
    exclude: undefinedIfEmpty(flags.exclude)
  }
  const { env } = yield* Host
  return yield* Effect.fromResult(Settings.resolve(file, given, env))
})

/** Prints a set-up error as one line, and exits with 2; `CommandExit` and `UserError` are passed through. */
const withExitCodes = <A, E, R>(
  command: Effect.Effect<A, E, R>
): Effect.Effect<A, CommandExit.CommandExit | CliError.UserError, R> =>
  Effect.catch(command, (error): Effect.Effect<never, CommandExit.CommandExit | CliError.UserError> => {
    if (error instanceof CommandExit.CommandExit || error instanceof CliError.UserError)
      return Effect.fail(error)
    return Effect.andThen(
      Effect.flatMap(Host, ({ start }) =>
        Console.error(`animal-store: ${printable(Invocation.localize(start, messageOf(error)))}`)
      ),
      Effect.fail(new CommandExit.CommandExit({ code: SET_UP_ERROR }))
    )
  })

const DEFAULT_COLUMNS = 100

/** Milliseconds between two lines of progress if standard error is not a terminal. */
const QUIET_MS = 10_000

/** Shows the progress of a run in a status line, or in a line now and then. */
const makeProgressLine = Effect.gen(function* () {
  const startedAt = performance.now()
  const { stderr } = yield* Host
  const { end, show } = yield* StatusLine.make
  let quietUntil = startedAt + QUIET_MS
  return {
    show: (progress: Run.Progress): void => {
      const now = performance.now()
      const line = Terminal.progress(progress, now - startedAt)
      show(line)
      if (stderr.isTTY === true || now < quietUntil) return
      quietUntil = now + QUIET_MS
      stderr.write(`${line}\n`)
    },
    end
  }
})

/** Returns a signal that SIGINT and SIGTERM abort. */
const stopSignal = Effect.gen(function* () {
  const { signals } = yield* Host
  const controller = new AbortController()
  for (const name of ["SIGINT", "SIGTERM"] as const)
    signals.prependOnceListener(name, () => controller.abort())
  return controller.signal
})

/** Opens the subject that the flags describe, passes it to `use` with the settings, and closes it afterwards. */
const withSubject = <A, E>(
  flags: SubjectFlags,
  use: (subject: HttpSubject, settings: Settings.Settings) => Effect.Effect<A, E, Scope.Scope>
) =>
  Effect.scoped(
    Effect.gen(function* () {
      const settings = yield* settingsOf(flags)
      return yield* use(yield* Settings.open(settings), settings)
    })
  )

const run = Command.make(
  "run",
  {
    ...subjectFlags,
    seed: optional("seed", "N", "Reuse the seed of a previous run.", Setting.natural(MAX_SEED)),
    out: optional(
      "out",
      "DIR",
      "Directory for badge.svg, exchanges.har and the report in several formats. Default: none.",
      Setting.text
    ),
    allowInconclusive: Setting.toggle(
      "allow-inconclusive",
      "Exit with 0 if nothing failed and at least one profile passed, even if some checks were inconclusive."
    ),
    json: Setting.toggle(
      "json",
      "Print the report as one line of JSON, and nothing else, to standard output."
    )
  },
  Effect.fn("conformance run")(function* ({ allowInconclusive, json, out, seed, ...flags }) {
    const { env, stdout } = yield* Host
    const { end, show } = yield* makeProgressLine
    const signal = yield* stopSignal
    const tryWrite = <A>(write: () => Promise<A>) =>
      Effect.tryPromise({
        try: write,
        catch: toSetUpError("out")
      })
    // Fails before the run if the directory is not writable, so that no result is lost.
    if (out !== undefined) yield* tryWrite(() => ReportFiles.prepare(out))
    yield* withSubject(flags, (subject, settings) => {
      const running = Run.run(subject, {
        level: settings.level,
        only: settings.only,
        exclude: settings.exclude,
        seed,
        allowInconclusive,
        implementation: settings.implementation,
        onProgress: show,
        signal
      })
      // A signal interrupts this fiber, but the run ends by itself, and its report is printed.
      return Effect.uninterruptible(
        Effect.gen(function* () {
          const fiber = yield* Effect.forkDetach(Effect.ensuring(running, end))
          const report = yield* Fiber.join(fiber)
          const written =
            out === undefined
              ? undefined
              : yield* Effect.result(tryWrite(() => ReportFiles.write(report, subject, out)))
          yield* Output.print(
            json
              ? Json.line(report)
              : Terminal.render(report, {
                  columns: stdout.columns ?? DEFAULT_COLUMNS,
                  color: stdout.isTTY === true && env.NO_COLOR === undefined
                })
          )
          if (written !== undefined) yield* Effect.fromResult(written)
          yield* CommandExit.withCode(report.exitCode)
        })
      )
    })
  }, withExitCodes)
).pipe(
  Command.withDescription(
    "Test a server. Exit codes: 0 conformant, 1 not conformant, 2 invalid set-up, 3 inconclusive."
  )
)

const doctor = Command.make(
  "doctor",
  subjectFlags,
  Effect.fn("conformance doctor")(function* (flags) {
    const findings = yield* withSubject(flags, (subject, settings) => Doctor.examine(subject, settings))
    yield* Output.print(findings.map((finding) => `- ${printable(finding)}`).join("\n"))
  }, withExitCodes)
).pipe(
  Command.withDescription(
    "Check only the set-up: whether the server is reachable, which keys work, and how many requests and seconds a run would take."
  )
)

const list = Command.make(
  "list",
  {
    json: Setting.toggle(
      "json",
      "Print the checks as one line of JSON, and nothing else, to standard output."
    )
  },
  Effect.fn("conformance list")(function* ({ json }) {
    const width = Math.max(...Explain.listed.map(({ id }) => id.length))
    yield* Output.print(
      json
        ? JSON.stringify(Explain.listed)
        : Explain.listed
            .map(
              ({ id, law, level, on }) => `${id.padEnd(width)}  ${level.padEnd(6)}  ${on.padEnd(4)}  ${law}`
            )
            .join("\n")
    )
  })
).pipe(Command.withDescription("List the checks."))

const explain = Command.make(
  "explain",
  {
    id: Argument.String("id").pipe(
      Argument.withDescription("Id of a check, which is the slug of its clause.")
    )
  },
  Effect.fn("conformance explain")(function* ({ id }) {
    const page = Explain.explain(id)
    if (page === undefined) {
      return yield* new SetupError({
        reason: `unknown check ${JSON.stringify(id)}: see 'animal-store conformance list'`
      })
    }
    yield* Output.print(page)
  }, withExitCodes)
).pipe(Command.withDescription("Describe a check, and what a run does to decide it."))

/** The word and the exit code for each outcome of a replay. */
const outcomes = { fixed: ["FIXED", 0], failed: ["FAILED", 1], "not-replayable": ["CANNOT", 2] } as const

const replay = Command.make(
  "replay",
  {
    token: Argument.String("token").pipe(
      Argument.withDescription("Replay token asc1_… of a reported failure.")
    ),
    ...subjectFlags
  },
  Effect.fn("conformance replay")(function* ({ token, ...flags }) {
    const content = yield* Effect.fromResult(ReplayToken.decode(token))
    const [{ outcome, reason, steps }, redact] = yield* withSubject(flags, (subject) =>
      Effect.map(Replay.replay(subject, content), (replayed) => [replayed, subject.redact] as const)
    )
    const [word, code] = outcomes[outcome]
    const lines = [
      `${word} ${content.check}${reason === undefined ? "" : `: ${reason}`}`,
      ...Wording.numbered(steps).map((line) => `  ${line}`)
    ]
    yield* Output.print(lines.map((line) => printable(redact(line))).join("\n"))
    yield* CommandExit.withCode(code)
  }, withExitCodes)
).pipe(
  Command.withDescription(
    "Replay the history of a reported failure. Exit codes: 0 fixed, 1 still fails, 2 cannot be replayed."
  )
)

/** The `conformance` commands. */
export const conformance = Command.make("conformance").pipe(
  Command.withSubcommands([run, doctor, list, explain, replay]),
  Command.withDescription(descriptions.conformance)
)
