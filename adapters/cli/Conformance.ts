/** `animal-store conformance`: tests servers in any language against the contract. */
import { readFile } from "node:fs/promises"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import type * as Scope from "effect/Scope"
import * as Configuration from "../../conformance/config/Configuration.ts"
import * as Settings from "../../conformance/config/Settings.ts"
import * as Doctor from "../../conformance/engine/Doctor.ts"
import * as Replay from "../../conformance/engine/Replay.ts"
import * as ReplayToken from "../../conformance/engine/ReplayToken.ts"
import * as Run from "../../conformance/engine/Run.ts"
import * as Selection from "../../conformance/engine/Selection.ts"
import { SetupError } from "../../conformance/engine/SetupError.ts"
import { printable } from "../../conformance/http/Printable.ts"
import * as Explain from "../../conformance/reports/Explain.ts"
import * as Json from "../../conformance/reports/Json.ts"
import * as Terminal from "../../conformance/reports/Terminal.ts"
import * as Wording from "../../conformance/reports/Wording.ts"
import type { HttpSubject } from "../../conformance/subjects/HttpSubject.ts"
import * as Duration from "../../core/options/Duration.ts"
import * as BudgetFlag from "./BudgetFlag.ts"
import * as CommandExit from "./CommandExit.ts"
import { descriptions } from "./Descriptions.ts"
import * as Failure from "./Failure.ts"
import { Host } from "./Host.ts"
import * as Invocation from "./Invocation.ts"
import * as Output from "./Output.ts"
import * as ReportFiles from "./ReportFiles.ts"
import * as Setting from "./Setting.ts"
import * as StatusLine from "./StatusLine.ts"

const MAX_WAIT_MS = 600_000

const MAX_SEED = 2 ** 31 - 1

const levels = ["spec", "design"] as const

/** Parses a text like the member of the configuration file with this schema. */
const as =
  (schema: Schema.Codec<string>): Setting.Parse<string> =>
  (text) =>
    Result.mapError(Schema.decodeUnknownResult(schema)(text), ({ message }) => message)

const optional = <A>(name: string, metavar: string, description: string, parse: Setting.Parse<A>) =>
  Flag.map(Flag.optional(Setting.make(name, metavar, description, parse)), Option.getOrUndefined)

/** Returns the description of a member of the configuration file. */
const describe = ({ ast }: Schema.Top): string => SchemaAST.resolveDescription(ast) ?? ""

/** A flag that overrides a member of the file. */
const text = (name: string, metavar: string, member: Schema.Top, parse = Setting.text) =>
  optional(name, metavar, describe(member), parse)

/** A repeatable flag that overrides a list in the file. */
const repeated = (name: string, metavar: string, member: Schema.Top, parse = Setting.text) =>
  Flag.map(Setting.repeated(name, metavar, `${describe(member)} Repeatable.`, parse), (all) =>
    all.length === 0 ? undefined : all
  )

/** A flag that overrides a boolean in the file with `value`. */
const toggle = (name: string, description: string, value: boolean) =>
  Flag.map(Setting.toggle(name, description), (isOn) => (isOn ? value : undefined))

const { fields } = Configuration.Configuration
const { fields: keys } = Configuration.Keys
const { fields: implementation } = Configuration.Implementation

/** The flags in the form of the configuration file. Keys are parsed later, because these messages show values. */
const settings = {
  url: text("url", "URL", fields.url),
  keys: {
    main: text("key", "KEY", keys.main),
    tiny: text("tiny", "KEY:PERMINUTE:PERDAY", keys.tiny),
    victim: text("victim", "KEY:PERMINUTE:PERDAY", keys.victim),
    revoked: text("revoked", "KEY", keys.revoked),
    expired: text("expired", "KEY", keys.expired)
  },
  clock: text("clock", "URL", fields.clock),
  level: optional("level", levels.join("|"), describe(fields.level), Setting.oneOf(levels)),
  name: text("name", "TEXT", fields.name),
  implementation: {
    name: text("implementation", "NAME", implementation.name, as(Configuration.Label)),
    version: text("implementation-version", "VERSION", implementation.version, as(Configuration.Label)),
    contact: text("contact", "CONTACT", implementation.contact, as(Configuration.Contact))
  },
  budget: optional("budget", "BUDGET", `${describe(fields.budget)} Default: 6000req,180s.`, BudgetFlag.parse),
  declared: {
    categories: repeated(
      "category",
      "N",
      Configuration.Declared.fields.categories,
      as(Configuration.Integer)
    ),
    bans: toggle(
      "no-bans",
      "Declare that the server never bans keys (bans are optional: contract §8.4.3).",
      false
    )
  },
  only: repeated("only", "ID", fields.only),
  exclude: repeated("exclude", "ID", fields.exclude),
  iOwnThisServer: toggle("i-own-this-server", describe(fields.iOwnThisServer), true)
}

const subjectFlags = {
  config: optional("config", "FILE", "Configuration file; flags override it.", Setting.text),
  settings,
  wait: optional(
    "wait",
    "DURATION",
    "How long to wait for the server to start, such as 30s. Default: do not wait.",
    Duration.parse(0, MAX_WAIT_MS)
  )
}

type SubjectFlags = Command.Command.Config.Infer<typeof subjectFlags>

/** Accesses a file that a flag names. */
const access = <A>(flag: string, work: () => Promise<A>) =>
  Effect.tryPromise({
    try: work,
    catch: (cause) =>
      new SetupError({ reason: `--${flag}: ${cause instanceof Error ? cause.message : String(cause)}` })
  })

/** Converts an error in the set-up to one line, with which the command exits with 2. */
const withUserErrors = <A, E, R>(command: Effect.Effect<A, E, R>) =>
  Effect.catchIf(
    command,
    (error) => error instanceof SetupError || error instanceof Selection.UnknownSelection,
    ({ message }) =>
      Effect.flatMap(Host, ({ start }) =>
        Effect.fail(Failure.userError(new Error(Invocation.localize(start, message))))
      )
  )

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
  { config, settings: flags, wait }: SubjectFlags,
  use: (subject: HttpSubject, settings: Settings.Settings) => Effect.Effect<A, E, Scope.Scope>
) =>
  Effect.scoped(
    Effect.gen(function* () {
      const { env } = yield* Host
      const content = config === undefined ? "{}" : yield* access("config", () => readFile(config, "utf8"))
      const file = yield* Configuration.parse(content)
      const settings = yield* Effect.fromResult(Settings.resolve(file, flags, env))
      return yield* use(yield* Settings.open(settings, wait), settings)
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
    // Fails before the run if the directory is not writable, so that no result is lost.
    if (out !== undefined) yield* access("out", () => ReportFiles.prepare(out))
    yield* withSubject(flags, (subject, settings) => {
      const running = Run.run(subject, {
        ...settings,
        seed,
        allowInconclusive,
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
              : yield* Effect.result(access("out", () => ReportFiles.write(report, subject, out)))
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
  }, withUserErrors)
).pipe(
  Command.withDescription(
    "Test a server. Exit codes: 0 conformant, 1 not conformant, 2 invalid set-up, 3 inconclusive."
  )
)

const doctor = Command.make(
  "doctor",
  subjectFlags,
  Effect.fn("conformance doctor")(function* (flags) {
    const { lines } = yield* withSubject(flags, (subject, settings) =>
      Effect.flatMap(Effect.fromResult(Selection.of(subject, settings)), (selection) =>
        Doctor.examine(subject, selection)
      )
    )
    yield* Output.print(lines.map((finding) => `- ${printable(finding)}`).join("\n"))
  }, withUserErrors)
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
  }, withUserErrors)
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
  }, withUserErrors)
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
