/** Defines the options of the web-standard host. */
import * as OptionTable from "../../core/options/OptionTable.ts"
import * as Rule from "../../core/options/Rule.ts"

/** Options of the handler. */
export interface FetchHandlerOptions {
  /** Returns the client's IP address for `fetch`; without it, all clients without a key share one rate limit. */
  readonly clientAddress?: ((request: Request) => string | undefined) | undefined
  /**
   * Whether the host of `fetch` ends each body at its `Content-Length`, as `Bun.serve` and `Deno.serve` do. Such a body
   * is read in one call, without a stream. By default only requests whose `arrayBuffer` the host has replaced are read
   * this way, because a `Request` that other code creates can carry more bytes than it declares.
   */
  readonly trustContentLength?: boolean | undefined
}

const NO_FETCH = "`serve` does not use `fetch`"

/** The rule and the default of each option. */
export const table = {
  clientAddress: OptionTable.programOnly(
    Rule.callback<NonNullable<FetchHandlerOptions["clientAddress"]>>(),
    undefined,
    NO_FETCH
  ),
  trustContentLength: OptionTable.programOnly(Rule.boolean, false, NO_FETCH)
} satisfies OptionTable.OptionTable<FetchHandlerOptions>
