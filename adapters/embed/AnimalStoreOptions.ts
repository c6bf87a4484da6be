/** Options of `openAnimalStore`, and the rule of each. */
import * as BanPolicy from "../../core/limits/BanPolicy.ts"
import * as Options from "../../core/options/Options.ts"
import * as Rule from "../../core/options/Rule.ts"
import * as ServiceOptions from "../../core/service/ServiceOptions.ts"
import * as FetchHandler from "../http-fetch/FetchHandler.ts"
import * as Database from "./Database.ts"
import * as ObservationOptions from "./ObservationOptions.ts"

/** Options of `openAnimalStore`: those of the service, the database, the host, the log, metrics and traces. */
export interface AnimalStoreOptions
  extends Partial<ServiceOptions.ServiceOptions>,
    Partial<Database.DatabaseOptions>,
    ObservationOptions.ObservationOptions {
  /**
   * Address of the database: `memory:` (the default) loses its data with the process, `sqlite:PATH` is a file,
   * `postgres://…` a server.
   */
  readonly database?: string | undefined
  /** Where rate limits and bans are stored: an address as in `database`, which is the default, or `redis://…`. */
  readonly limits?: string | undefined
  /** When keys are banned for repeated requests after a 429; absent fields default to `BanPolicy.standard`. */
  readonly ban?: Partial<BanPolicy.BanPolicy> | undefined
  /**
   * Serves the reference page at `/docs`, and at `/` a start page for browsers, both without a key; off by default. Needs
   * Node, Bun or Deno, because the page's files are read from disk.
   */
  readonly docs?: boolean | undefined
  /** Returns the current time in epoch milliseconds, for tests; by default the system time. */
  readonly now?: (() => number) | undefined
  /** Returns the client address of a `fetch` request; without it, all anonymous clients share one rate limit. */
  readonly clientAddress?: FetchHandler.FetchHandlerOptions["clientAddress"]
  /** Aborts `openAnimalStore`, for example if the database does not respond; has no effect once the store is open. */
  readonly signal?: AbortSignal | undefined
}

/** The rule of each option; a new option needs a line here to compile. */
export const rules: Options.Rules<AnimalStoreOptions> = {
  ...ServiceOptions.rules,
  ...Database.rules,
  ...FetchHandler.rules,
  ...ObservationOptions.rules,
  database: Rule.text,
  limits: Rule.text,
  ban: Options.partial(BanPolicy.rules),
  docs: Rule.boolean,
  now: Rule.callback(),
  signal: Rule.make(
    (value): value is AbortSignal =>
      typeof value === "object" && value !== null && "aborted" in value && "addEventListener" in value,
    "must be an AbortSignal"
  )
}
