/** `animal-store conformance`: proof for servers of the contract, in any language. */
import { readFile } from "node:fs/promises"
import * as Console from "effect/Console"
import * as Argument from "effect/cli/Argument"
import * as CliError from "effect/cli/CliError"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Configuration from "../../conformance/config/Configuration.ts"
import * as Settings from "../../conformance/config/Settings.ts"
import * as Doctor from "../../conformance/engine/Doctor.ts"
import * as HttpRun from "../../conformance/engine/HttpRun.ts"
import * as Replay from "../../conformance/engine/Replay.ts"
import * as ReplayToken from "../../conformance/engine/ReplayToken.ts"
import type { Progress } from "../../conformance/engine/Run.ts"
import { SetupFault } from "../../conformance/engine/SetupFault.ts"
import * as Explain from "../../conformance/gallery/Explain.ts"
import * as Json from "../../conformance/reports/Json.ts"
import * as Terminal from "../../conformance/reports/Terminal.ts"
import * as Wording from "../../conformance/reports/Wording.ts"
import type { HttpSubject } from "../../conformance/subjects/HttpSubject.ts"
import * as Int64 from "../../core/domain/Int64.ts"
import * as BudgetFlag from "./BudgetFlag.ts"
import * as Ended from "./Ended.ts"
import * as Output from "./Output.ts"
import * as ReportFiles from "./ReportFiles.ts"
import { selfTest } from "./SelfTest.ts"
import * as Setting from "./Setting.ts"
import * as StatusLine from "./StatusLine.ts"

/** Exit code of commands whose set-up is wrong. */
const SET_UP_FAULT = 2

const MAX_SEED = 2 ** 31 - 1

const levels = ["spec", "design"] as const

const oneOf =
  <const Words extends ReadonlyArray<string>>(words: Words): Setting.Parse<Words[number]> =>
  (text) =>
    Result.fromNullishOr(
      words.find((word) => word === text),
      () => `must be one of ${words.join(", ")}`
    )

const parseCategory: Setting.Parse<bigint> = (text) =>
  /^-?[0-9]{1,19}$/.test(text) && Int64.is(BigInt(text))
    ? Result.succeed(BigInt(text))
    : Result.fail("must be an int64")

const optional = <A>(name: string, metavar: string, description: string, parse: Setting.Parse<A>) =>
  Flag.map(Flag.optional(Setting.make(name, metavar, description, parse)), Option.getOrUndefined)

// Keys are told by messages of the settings, which do not repeat them; here any text will do.
const subjectFlags = {
  config: optional("config", "FILE", "A configuration file; flags go before it.", Setting.text),
  url: optional("url", "URL", "Base address of the server, such as http://127.0.0.1:3000/v1.", Setting.text),
  key: optional(
    "key",
    "KEY",
    "An API key on a plan that carries the run; env:NAME takes a variable.",
    Setting.text
  ),
  tiny: optional(
    "tiny",
    "KEY:PERMINUTE:PERDAY",
    "A key on a small plan that the run may use up: env:TINY:5:40 with a clock, env:TINY:5:1000 without.",
    Setting.text
  ),
  victim: optional("victim", "KEY:PERMINUTE:PERDAY", "A key that the run may get banned.", Setting.text),
  revoked: optional("revoked", "KEY", "A key that was revoked.", Setting.text),
  clock: optional(
    "clock",
    "URL",
    "The server's clock, such as http://127.0.0.1:3001/clock, where it lets tests move it.",
    Setting.text
  ),
  level: optional(
    "level",
    "LEVEL",
    "spec: what the contract says; design: this project's answers to its gaps too. Default spec.",
    oneOf(levels)
  ),
  name: optional("name", "TEXT", "What reports call the server.", Setting.text),
  budget: optional("budget", "BUDGET", "What the run may cost; default 5000req,180s.", BudgetFlag.parse),
  categories: Setting.repeated(
    "category",
    "N",
    "A categoryId that the server accepts, if it does not accept any int64; may be repeated.",
    parseCategory
  ),
  noBans: Setting.toggle("no-bans", "Declare that the server never bans keys (contract §8.4.3 allows both)."),
  only: Setting.repeated(
    "only",
    "ID",
    "Only these checks: ids, patterns such as list.*, profiles, clauses.",
    Setting.text
  ),
  exclude: Setting.repeated(
    "exclude",
    "ID",
    "Leave these out; the subject is then not called conformant.",
    Setting.text
  ),
  iOwnThisServer: Setting.toggle("i-own-this-server", "Allow a server that is not on this machine.")
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** What a file given with a flag was not good for. */
const faultOf = (flag: string) => (cause: unknown) =>
  new SetupFault({ reason: `--${flag}: ${messageOf(cause)}` })

type SubjectFlags = Omit<Settings.Flags, "bans"> & {
  readonly config?: string | undefined
  readonly noBans: boolean
}

const orEmpty = <A>(all: ReadonlyArray<A> | undefined) => (all?.length === 0 ? undefined : all)

const settingsOf = Effect.fnUntraced(function* ({ config, noBans, ...flags }: SubjectFlags) {
  const file =
    config === undefined
      ? {}
      : yield* Effect.flatMap(
          Effect.tryPromise({
            try: () => readFile(config, "utf8"),
            catch: faultOf("config")
          }),
          Configuration.parse
        )
  const given = {
    ...flags,
    bans: noBans ? false : undefined,
    categories: orEmpty(flags.categories),
    only: orEmpty(flags.only),
    exclude: orEmpty(flags.exclude)
  }
  return yield* Effect.fromResult(Settings.resolve(file, given, process.env))
})

/** Whatever ends a command before it has come to a verdict ends it with 2, in one line. */
const withExitCodes = <A, E, R>(
  command: Effect.Effect<A, E, R>
): Effect.Effect<A, Ended.Ended | CliError.UserError, R> =>
  Effect.catch(command, (error): Effect.Effect<never, Ended.Ended | CliError.UserError> => {
    if (error instanceof Ended.Ended || error instanceof CliError.UserError) return Effect.fail(error)
    return Effect.andThen(
      Console.error(`animal-store: ${Wording.printable(messageOf(error))}`),
      Effect.fail(new Ended.Ended({ code: SET_UP_FAULT }))
    )
  })

const columns = (): number => process.stdout.columns ?? 100

/** How far a run is, on the line that is written over. */
const progress = () => {
  const begun = performance.now()
  const { end, show } = StatusLine.make()
  return {
    show: ({ id, index, requests, total }: Progress): void =>
      show(
        Terminal.progress(
          { done: index, planned: total, id, requests, milliseconds: performance.now() - begun },
          process.stderr.columns
        )
      ),
    end
  }
}

const opened = <A, E>(
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
    seed: optional(
      "seed",
      "N",
      "Draw the same random cases as the run that told this seed.",
      Setting.natural(MAX_SEED)
    ),
    out: optional(
      "out",
      "DIR",
      "Write report.json, junit.xml, summary.md, report.html and scripts there.",
      Setting.text
    ),
    json: Setting.toggle("json", "Print the report as JSON on standard output, and nothing else.")
  },
  Effect.fn("conformance run")(function* ({ json, out, seed, ...flags }) {
    const { end, show } = progress()
    const writing = <A>(write: () => Promise<A>) =>
      Effect.tryPromise({
        try: write,
        catch: faultOf("out")
      })
    // Before a run whose result could then not be kept.
    if (out !== undefined) yield* writing(() => ReportFiles.prepare(out))
    const report = yield* opened(flags, (subject, settings) =>
      Effect.ensuring(
        HttpRun.run(subject, {
          level: settings.level,
          only: settings.only,
          exclude: settings.exclude,
          seed,
          onProgress: show
        }),
        end
      )
    )
    const written =
      out === undefined ? undefined : yield* Effect.result(writing(() => ReportFiles.write(report, out)))
    const scripts = written === undefined ? undefined : Option.getOrUndefined(Result.getSuccess(written))
    yield* Output.print(
      json
        ? Json.line(report)
        : Terminal.render(report, {
            columns: columns(),
            color: process.stdout.isTTY === true && process.env.NO_COLOR === undefined,
            scripts
          })
    )
    if (written !== undefined) yield* Effect.fromResult(written)
    yield* Ended.withCode(report.exitCode)
  }, withExitCodes)
).pipe(
  Command.withDescription(
    "Hold a server to the contract. Ends with 0 conformant, 1 not, 2 set-up, 3 inconclusive."
  )
)

const doctor = Command.make(
  "doctor",
  subjectFlags,
  Effect.fn("conformance doctor")(function* (flags) {
    const findings = yield* opened(flags, (subject, settings) => Doctor.examine(subject, settings))
    yield* Output.print(findings.map((finding) => `- ${Wording.printable(finding)}`).join("\n"))
  }, withExitCodes)
).pipe(
  Command.withDescription(
    "Look at the set-up only: what is reachable, which keys work, what a run would cost."
  )
)

const list = Command.make(
  "list",
  { json: Setting.toggle("json", "Print JSON on standard output, and nothing else.") },
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
  { id: Argument.String("id").pipe(Argument.withDescription("Id of a check, or slug of a clause.")) },
  Effect.fn("conformance explain")(function* ({ id }) {
    const page = Explain.explain(id)
    if (page === undefined) {
      return yield* new SetupFault({
        reason: `there is no check and no clause ${JSON.stringify(id)}: see 'animal-store conformance list'`
      })
    }
    yield* Output.print(page)
  }, withExitCodes)
).pipe(Command.withDescription("Tell what a check does, and which clauses it stands for."))

const replayed = { fixed: 0, failed: 1, cannot: 2 } as const

const replay = Command.make(
  "replay",
  {
    token: Argument.String("token").pipe(
      Argument.withDescription("The word asc1_… that a failure was reported with.")
    ),
    ...subjectFlags
  },
  Effect.fn("conformance replay")(function* ({ token, ...flags }) {
    const content = yield* Effect.fromResult(ReplayToken.decode(token))
    const [outcome, lines] = yield* opened(flags, (subject, { level }) =>
      Effect.gen(function* () {
        yield* Doctor.examine(subject, { level, only: [content.check] })
        const result = yield* Replay.replay(subject, content)
        const { redact = (text: string) => text } = subject
        return [result.outcome, Replay.lines(content, result).map(redact)] as const
      })
    )
    yield* Output.print(lines.map(Wording.printable).join("\n"))
    yield* Ended.withCode(replayed[outcome])
  }, withExitCodes)
).pipe(
  Command.withDescription("Try the case of an earlier failure again: FIXED (0), FAILED (1) or CANNOT (2).")
)

/** The group. */
export const conformance = Command.make("conformance").pipe(
  Command.withSubcommands([run, doctor, list, explain, replay, selfTest]),
  Command.withDescription("Prove that a server keeps the contract, whatever it is written in.")
)
