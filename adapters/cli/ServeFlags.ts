/** Defines the flags of `serve`. */
import type * as CliError from "effect/cli/CliError"
import type * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as OwnPlans from "../../core/limits/OwnPlans.ts"
import * as Plan from "../../core/limits/Plan.ts"
import * as OptionTable from "../../core/options/OptionTable.ts"
import * as Rule from "../../core/options/Rule.ts"
import type { AnimalStoreOptions, IssueOptions } from "../embed/index.ts"
import { isLogged } from "../log/LogEvent.ts"
import type { LogFormatName } from "../log/LogFormat.ts"
import * as Failure from "./Failure.ts"
import type { Host } from "./Host.ts"
import * as IssueKeyFlag from "./IssueKeyFlag.ts"
import * as Setting from "./Setting.ts"
import * as StoreFlags from "./StoreFlags.ts"
import * as WorkerCount from "./workers/WorkerCount.ts"

/** Accepts any name of an own plan: whether there is one is known only when all flags are parsed. */
const parseIssueKey: Rule.Parse<string> = (text) =>
  Result.orElse(
    Result.map(IssueKeyFlag.parse(text), () => text),
    (reason) => (OwnPlans.isName(text) ? Result.succeed(text) : Result.fail(reason))
  )

const issueKeys = {
  ...Rule.make((keys): keys is ReadonlyArray<string> => Array.isArray(keys), "must be a list"),
  ...Rule.listForm(`${Plan.names.join("|")}[:perMinute=N,perDay=N]`, "spaces", parseIssueKey, (keys) => keys)
}

const parseHostName: Rule.Parse<string> = (text) =>
  /^[A-Za-z0-9._-]{1,253}$/.test(text)
    ? Result.succeed(text)
    : Result.fail("must be a host name without a port")

const host = Rule.textWhere(() => true, "must be a string", "HOST")

const hostNames = {
  ...Rule.make((names): names is ReadonlyArray<string> => Array.isArray(names), "must be a list"),
  ...Rule.listForm("NAME", "spaces", parseHostName, (names) => names)
}

/** The flags that programs do not have as options, what they do, and what programs use instead. */
export const table = {
  workers: {
    ...OptionTable.flag(WorkerCount.FLAG, WorkerCount.rule, 1),
    summary:
      "Number of processes that serve on the port, or `auto` for one per core; requires data outside memory.",
    noOption: "a program starts its processes"
  },
  issueKeys: {
    ...OptionTable.flag("issue-key", issueKeys, []),
    summary: `Issue a key at startup, also of a plan that --plan defines; ${Plan.agreed} requires both limits.`,
    noOption: "`store.keys.issue`"
  },
  firstKey: {
    ...OptionTable.flag("first-key", Rule.boolean, undefined),
    defaultText: "only if standard output is a terminal and the log format is text, or with --json",
    summary: "Issue a Free key if the database has no key, and print it; `--no-first-key` issues none.",
    noOption: "`store.keys.issueFirst`"
  },
  json: {
    ...OptionTable.flag("json", Rule.boolean, false),
    summary: "Once the server listens, print one line of JSON, and nothing else, to standard output.",
    noOption: "the results of `listen` and `store.keys.issue`"
  },
  adminPort: {
    ...OptionTable.flag("admin-port", Rule.port, undefined, { defaultText: "off" }),
    summary: "Serve `/metrics`, `/livez` and `/readyz` on this port, without a key; 0 chooses a free port.",
    noOption: "`store.metrics()`, on a page of the program"
  },
  adminHost: {
    ...OptionTable.flag("admin-host", host, "127.0.0.1"),
    summary: "Address of the admin port.",
    noOption: "`store.metrics()`, on a page of the program"
  },
  adminAllowedHosts: {
    ...OptionTable.flag("admin-allowed-host", hostNames, []),
    summary:
      "Host name by which clients, such as Prometheus, reach the admin port, besides `--admin-host`, localhost and IP addresses.",
    noOption: "`store.metrics()`, on a page of the program"
  },
  drainMs: {
    ...OptionTable.flag("drain", Rule.milliseconds({ min: 0, max: 3_600_000 }), 5_000),
    summary:
      "Time after SIGTERM during which `/readyz` returns 503 and requests are still accepted, such as 15s.",
    noOption: "`store.drain(ms)` and `store.close({ drainMs })`"
  },
  testClockPort: {
    ...OptionTable.flag("test-clock-port", Rule.port, undefined),
    summary: "For conformance tests only: serve, on the loopback address, a clock that tests can advance.",
    noOption: "`now`"
  }
}

/** What each of these flags does. */
export const summaries: ReadonlyMap<string, string> = new Map(
  Object.entries(table).map(([name, { summary }]) => [name, summary])
)

/** All flags; those in `listen` and `store` are options of programs. */
export const flags = {
  listen: StoreFlags.listen,
  store: StoreFlags.store,
  ...Setting.ofTable(table, (name) => summaries.get(name) ?? "")
}

/** The environment variables of `flags`. */
export const variables: ReadonlyArray<string> = [
  StoreFlags.listenTable,
  StoreFlags.storeTable,
  table
].flatMap(Setting.variablesOf)

/** The parsed values of `flags`. */
export type Values = Command.Command.Config.Infer<typeof flags>

/** Returns the keys to issue at startup; fails if one has a plan that neither the contract nor `--plan` defines. */
export const issueKeysOf = ({
  issueKeys,
  store
}: Values): Effect.Effect<ReadonlyArray<IssueOptions>, CliError.UserError> =>
  Effect.forEach(issueKeys, (text) =>
    Effect.mapError(Effect.fromResult(IssueKeyFlag.parse(text, store.plans)), (reason) =>
      Failure.userError(
        new Error(`${Setting.title(table.issueKeys.flag)}: ${reason}; got ${JSON.stringify(text)}`)
      )
    )
  )

/** Returns the options of the store, with this collector; `isTerminal` is true if standard error is a terminal. */
export const storeOptions = (
  { adminPort, store }: Values,
  otlp: AnimalStoreOptions["otlp"],
  isTerminal: boolean
): AnimalStoreOptions => {
  const { accessLog = isTerminal && isLogged("info", store.logLevel), ...options } = store
  return { ...options, accessLog, metrics: adminPort !== undefined, otlp }
}

/**
 * Whether to issue the first key: the value of the flag; without it, true if a person reads standard output in a
 * terminal, or a program with `--json`. A log that collects standard output must not contain the secret.
 */
export const isFirstKeyWanted = ({ firstKey, json, store }: Values, isTerminal: boolean): boolean =>
  firstKey ?? (json || (isTerminal && store.logFormat === "text"))

/**
 * Returns the log format of `serve` before the flags are parsed, for errors in the flags; `text` for other commands,
 * which have no log.
 */
export const logFormatOf = ({ args, env }: Pick<Host, "args" | "env">): LogFormatName => {
  if (!args.includes("serve")) return "text"
  const { flag } = StoreFlags.storeTable.logFormat
  const given = args.findLast((arg, index) => arg.startsWith(`--${flag}=`) || args[index - 1] === `--${flag}`)
  const name = given?.replace(`--${flag}=`, "") ?? Setting.textOfVariable(env[Setting.variable(flag)] ?? "")
  return name === "json" ? name : "text"
}
