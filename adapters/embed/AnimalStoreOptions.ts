/** Defines the options of `openAnimalStore`, and their validation rules. */

import * as Layer from "effect/Layer"
import * as BanPolicy from "../../core/limits/BanPolicy.ts"
import * as CountPer from "../../core/limits/CountPer.ts"
import * as OwnPlans from "../../core/limits/OwnPlans.ts"
import type { Plan } from "../../core/limits/Plan.ts"
import * as Options from "../../core/options/Options.ts"
import * as OptionTable from "../../core/options/OptionTable.ts"
import * as Rule from "../../core/options/Rule.ts"
import type { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import type { PetRepository } from "../../core/ports/PetRepository.ts"
import type { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import * as ServiceOptions from "../../core/service/ServiceOptions.ts"
import * as FetchHandlerOptions from "../http-fetch/FetchHandlerOptions.ts"
import * as NodeServerOptions from "../http-node/NodeServerOptions.ts"
import * as Database from "./Database.ts"
import * as ObservationOptions from "./ObservationOptions.ts"
import * as OwnOperation from "./OwnOperation.ts"

/** Options of `openAnimalStore` for the service, the database, the host, logging, metrics and tracing. */
export interface AnimalStoreOptions
  extends Partial<ServiceOptions.ServiceOptions>,
    Partial<Database.DatabaseOptions>,
    FetchHandlerOptions.FetchHandlerOptions,
    ObservationOptions.ObservationOptions {
  /**
   * Address of the database: `sqlite:PATH`, `postgres://user:password@host:port/database`, or `memory:` (lost when the
   * process exits). Or stores of your own, such as those of `Stores.fromPromises`.
   */
  readonly database?: string | Stores | undefined
  /**
   * Address of another database for rate limits and bans, or `redis://user:password@host:port`. By default, they are in
   * `database`.
   */
  readonly limits?: string | undefined
  /**
   * Plans beside those of the contract, by name, with the limits of all their keys. For example
   * `{ Starter: { perMinute: 120, perDay: 5000 } }`; other numbers later apply to the keys that exist already.
   */
  readonly plans?: { readonly [name: string]: Plan } | undefined
  /**
   * Whether each key has its limits for itself, or all keys of an account share their usage and their ban. Each request
   * is checked against the limits of its own key.
   */
  readonly countPer?: CountPer.CountPer | undefined
  /** Policy that bans keys for repeated requests after a 429; absent fields default to `BanPolicy.standard`. */
  readonly ban?: Partial<BanPolicy.BanPolicy> | undefined
  /**
   * Serve the reference page at `/docs`, and a start page for browsers at `/`, without a key. Requires Node, Bun or
   * Deno, because the files of the reference page are read from disk.
   */
  readonly docs?: boolean | undefined
  /** Operations of your own, which need the same keys and count against the same limits; see `defineOperation`. */
  readonly operations?: ReadonlyArray<OwnOperation.OwnOperation> | undefined
  /** Returns the current time in epoch milliseconds, for tests; the system time by default. Fractions are discarded. */
  readonly now?: (() => number) | undefined
  /** Aborts `openAnimalStore`, for example if the database does not respond; has no effect once the store is open. */
  readonly signal?: AbortSignal | undefined
}

/** Stores of the program itself, or of a package. */
type Stores = Layer.Layer<PetRepository | RateLimitStore | ApiKeyStore, unknown>

const address = Rule.textWhere(() => true, "must be a string", "ADDRESS")

/** The address of a database as a flag, with the default of `serve`. */
export const databaseFlag = (defaultAddress: string) => OptionTable.flag("database", address, defaultAddress)

const stores: Rule.TextRule<string | Stores> = {
  ...Rule.make(
    (value): value is string | Stores => typeof value === "string" || Layer.isLayer(value),
    "must be a string, or stores"
  ),
  reader: address.reader,
  format: String
}

/** The rule, the default and the flag of each option. */
export const table = {
  database: OptionTable.flag("database", stores, "memory:"),
  limits: OptionTable.flag("limits", address, undefined, { defaultText: "the same database" }),
  ...Database.table,
  ...ServiceOptions.table,
  plans: OptionTable.flag("plan", OwnPlans.rule, {}),
  countPer: OptionTable.flag("count-per", CountPer.rule, "key"),
  ban: OptionTable.programOnly(
    Options.partial(BanPolicy.rules),
    undefined,
    "clients of `serve` can rely on the documented rules"
  ),
  docs: OptionTable.flag("docs", Rule.boolean, false),
  ...FetchHandlerOptions.table,
  ...ObservationOptions.table,
  operations: OptionTable.programOnly(OwnOperation.rule, [], "`serve` has the operations of the contract"),
  now: OptionTable.programOnly(Rule.callback<() => number>(), undefined, "see `--test-clock-port`"),
  signal: OptionTable.programOnly(
    Rule.make(
      (value): value is AbortSignal =>
        typeof value === "object" && value !== null && "aborted" in value && "addEventListener" in value,
      "must be an AbortSignal"
    ),
    undefined,
    "SIGINT and SIGTERM interrupt the command"
  )
} satisfies OptionTable.OptionTable<AnimalStoreOptions>

/** The options after the defaults are applied. */
export type Complete = OptionTable.Complete<typeof table>

/** The options of `listen`. */
export const listenTable = NodeServerOptions.table
