/** Defines the options of `openAnimalStore`, and their validation rules. */
import * as BanPolicy from "../../core/limits/BanPolicy.ts"
import * as Options from "../../core/options/Options.ts"
import * as OptionTable from "../../core/options/OptionTable.ts"
import * as Rule from "../../core/options/Rule.ts"
import * as ServiceOptions from "../../core/service/ServiceOptions.ts"
import * as FetchHandler from "../http-fetch/FetchHandler.ts"
import * as NodeServerOptions from "../http-node/NodeServerOptions.ts"
import * as Database from "./Database.ts"
import * as ObservationOptions from "./ObservationOptions.ts"

/** Options of `openAnimalStore` for the service, the database, the host, logging, metrics and tracing. */
export interface AnimalStoreOptions
  extends Partial<ServiceOptions.ServiceOptions>,
    Partial<Database.DatabaseOptions>,
    ObservationOptions.ObservationOptions {
  /** SQLite data is in a file, `memory:` data is lost when the process exits. */
  readonly database?: string | undefined
  readonly limits?: string | undefined
  readonly ban?: Partial<BanPolicy.BanPolicy> | undefined
  /** Requires Node, Bun or Deno, because the files of the reference page are read from disk. */
  readonly docs?: boolean | undefined
  readonly now?: (() => number) | undefined
  readonly clientAddress?: FetchHandler.FetchHandlerOptions["clientAddress"]
  readonly trustContentLength?: FetchHandler.FetchHandlerOptions["trustContentLength"]
  /** It has no effect once the store is open. */
  readonly signal?: AbortSignal | undefined
}

/** Each option with its rule, default, flag and meaning. */
export const table = {
  database: OptionTable.flag(Rule.text, {
    summary:
      "Address of the database: `sqlite:PATH`, `postgres://user:password@host:port/database`, or `memory:` (lost when the process exits).",
    default: "memory:",
    flag: "database",
    placeholder: "ADDRESS"
  }),
  limits: OptionTable.flag(Rule.text, {
    summary:
      "Address of the database for rate limits and bans, as for `database`, or `redis://user:password@host:port`.",
    default: undefined,
    defaultText: "the same database",
    flag: "limits",
    placeholder: "ADDRESS"
  }),
  ...Database.table,
  ...ServiceOptions.table,
  ban: OptionTable.programOnly(Options.partial(BanPolicy.rules), {
    summary: "Policy that bans keys for repeated requests after a 429; absent fields keep their defaults.",
    default: undefined,
    defaultText: "`BanPolicy.standard`",
    noFlag: "clients of `serve` can rely on the documented rules"
  }),
  docs: OptionTable.flag(Rule.boolean, {
    summary: "Serve the reference page at `/docs`, and a start page for browsers at `/`, without a key.",
    default: false,
    flag: "docs"
  }),
  ...FetchHandler.table,
  ...ObservationOptions.table,
  now: OptionTable.programOnly(Rule.callback<() => number>(), {
    summary: "Returns the current time in epoch milliseconds, for tests.",
    default: undefined,
    defaultText: "the system time",
    noFlag: "`--test-clock-port` serves a clock for tests"
  }),
  signal: OptionTable.programOnly(
    Rule.make(
      (value): value is AbortSignal =>
        typeof value === "object" && value !== null && "aborted" in value && "addEventListener" in value,
      "must be an AbortSignal"
    ),
    {
      summary: "Aborts `openAnimalStore`, for example if the database does not respond.",
      default: undefined,
      defaultText: "none",
      noFlag: "signals such as SIGTERM interrupt the command"
    }
  )
} satisfies OptionTable.OptionTable<AnimalStoreOptions>

/** The options after the defaults are applied. */
export type Complete = OptionTable.Complete<typeof table>

/** The options of `listen`. */
export const listenTable = NodeServerOptions.table
