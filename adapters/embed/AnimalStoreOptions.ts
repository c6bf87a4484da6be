/** Defines the options of `openAnimalStore`, and their validation rules. */
import * as BanPolicy from "../../core/limits/BanPolicy.ts"
import * as Options from "../../core/options/Options.ts"
import * as Rule from "../../core/options/Rule.ts"
import * as ServiceOptions from "../../core/service/ServiceOptions.ts"
import * as FetchHandler from "../http-fetch/FetchHandler.ts"
import * as Database from "./Database.ts"
import * as ObservationOptions from "./ObservationOptions.ts"

/** Options of `openAnimalStore` for the service, the database, the host, logging, metrics and tracing. */
export interface AnimalStoreOptions
  extends Partial<ServiceOptions.ServiceOptions>,
    Partial<Database.DatabaseOptions>,
    ObservationOptions.ObservationOptions {
  /**
   * Address of the database: `memory:` (the default), whose data is lost when the process exits, `sqlite:PATH` for a
   * file, or `postgres://…` for a server.
   */
  readonly database?: string | undefined
  /** Address of the store for rate limits and bans: as for `database`, or `redis://…`; the database by default. */
  readonly limits?: string | undefined
  /** The policy that bans keys for repeated requests after a 429; absent fields default to `BanPolicy.standard`. */
  readonly ban?: Partial<BanPolicy.BanPolicy> | undefined
  /**
   * Whether to serve the API reference at `/docs` and a start page for browsers at `/`, both without a key; off by
   * default. Requires Node, Bun or Deno, because the files of the reference page are read from disk.
   */
  readonly docs?: boolean | undefined
  /** Returns the current time in epoch milliseconds, for tests; the system time by default. */
  readonly now?: (() => number) | undefined
  /** Returns the client address of a `fetch` request; without it, all anonymous clients share one rate limit. */
  readonly clientAddress?: FetchHandler.FetchHandlerOptions["clientAddress"]
  /** Whether the host of `fetch` ends each body at its `Content-Length`, as `Bun.serve` and `Deno.serve` do. */
  readonly trustContentLength?: FetchHandler.FetchHandlerOptions["trustContentLength"]
  /** Aborts `openAnimalStore`, for example if the database does not respond; has no effect once the store is open. */
  readonly signal?: AbortSignal | undefined
}

/** The validation rule of each option; the compiler rejects an option without a rule. */
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
