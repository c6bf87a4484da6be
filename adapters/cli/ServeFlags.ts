/** Defines the flags of `serve`. */
import type * as Command from "effect/cli/Command"
import * as OptionTable from "../../core/options/OptionTable.ts"
import * as Rule from "../../core/options/Rule.ts"
import * as TextForm from "../../core/options/TextForm.ts"
import type { AnimalStoreOptions } from "../embed/index.ts"
import { isLogged } from "../log/LogEvent.ts"
import * as IssueKeyFlag from "./IssueKeyFlag.ts"
import * as Setting from "./Setting.ts"
import * as StoreFlags from "./StoreFlags.ts"
import * as WorkerCount from "./workers/WorkerCount.ts"

const port = Rule.integer({ min: 0, max: 65_535 })

/** The flags that programs do not have as options. */
export const table = {
  workers: OptionTable.commandOnly(WorkerCount.form, {
    summary:
      "Number of processes that serve on the port, or `auto` for one per core; requires data outside memory.",
    default: 1,
    flag: WorkerCount.FLAG,
    noOption: "start processes on one database"
  }),
  issueKeys: OptionTable.commandOnly(
    TextForm.list("PLAN[:perMinute=N,perDay=N]", "spaces", IssueKeyFlag.parse, (keys) => keys),
    {
      summary: "Issue a key at startup; Enterprise requires both limits.",
      default: [],
      flag: "issue-key",
      noOption: "`store.keys.issue`"
    }
  ),
  firstKey: OptionTable.commandOnly(TextForm.toggle, {
    summary: "Issue a Free key if the database has no key, and print it; `--no-first-key` issues none.",
    default: undefined,
    defaultText: "only if standard output is a terminal, or with --json",
    flag: "first-key",
    noOption: "`store.keys.issueFirst`"
  }),
  json: OptionTable.commandOnly(TextForm.toggle, {
    summary: "Once the server listens, print one line of JSON, and nothing else, to standard output.",
    default: false,
    flag: "json",
    noOption: "the results of `listen` and `store.keys.issue`"
  }),
  adminPort: OptionTable.commandOnly(port, {
    summary: "Serve `/metrics`, `/livez` and `/readyz` on this port, without a key; 0 chooses a free port.",
    default: undefined,
    defaultText: "off",
    flag: "admin-port",
    placeholder: "PORT",
    noOption: "`store.metrics()`, on a page of the program"
  }),
  adminHost: OptionTable.commandOnly(Rule.text, {
    summary: "Address of the admin port.",
    default: "127.0.0.1",
    flag: "admin-host",
    placeholder: "HOST",
    noOption: "`store.metrics()`, on a page of the program"
  }),
  drainMs: OptionTable.commandOnly(Rule.milliseconds({ min: 0, max: 3_600_000 }), {
    summary:
      "Time after SIGTERM during which `/readyz` returns 503 and requests are still accepted, such as 15s.",
    default: 5_000,
    flag: "drain",
    noOption: "`store.drain(ms)` and `store.close({ drainMs })`"
  }),
  testClockPort: OptionTable.commandOnly(port, {
    summary:
      "For conformance tests only: serve, on the loopback address, a clock that tests can advance; 0 chooses a free port.",
    default: undefined,
    flag: "test-clock-port",
    placeholder: "PORT",
    noOption: "`now`"
  })
}

/** All flags; those in `listen` and `store` are options of programs. */
export const flags = { listen: StoreFlags.listen, store: StoreFlags.store, ...Setting.ofTable(table) }

/** The parsed values of `flags`. */
export type Values = Command.Command.Config.Infer<typeof flags>

/** Returns the options of the store; `isTerminal` is true if standard error is a terminal. */
export const storeOptions = ({ adminPort, store }: Values, isTerminal: boolean): AnimalStoreOptions => {
  const { accessLog = isTerminal && isLogged("info", store.logLevel), otlp, ...options } = store
  return {
    ...options,
    accessLog,
    metrics: adminPort !== undefined,
    otlp: otlp.url === undefined ? undefined : { ...otlp, url: otlp.url }
  }
}

/**
 * Whether to issue the first key: the value of the flag; without it, true if standard output is a terminal or JSON.
 * A log that collects standard output must not contain the secret, but a program that reads `--json` expects it.
 */
export const isFirstKeyWanted = ({ firstKey, json }: Values, isTerminal: boolean): boolean =>
  firstKey ?? (isTerminal || json)
