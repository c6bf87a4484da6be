/** Defines the options of a server. */
import * as OptionTable from "../../core/options/OptionTable.ts"
import * as Rule from "../../core/options/Rule.ts"

/** The complete options of a server. */
export interface NodeServerOptions {
  /** Address to listen on. */
  readonly host: string
  /** TCP port to listen on; 0 chooses a free port. */
  readonly port: number
  /**
   * Milliseconds within which the header section of a request must arrive; otherwise the response is a 408. 0 means no
   * timeout of its own.
   */
  readonly headersTimeoutMs: number
  /** Milliseconds within which a whole request must arrive; otherwise the response is a 408. 0 means no timeout. */
  readonly requestTimeoutMs: number
  /**
   * Time after which an idle connection is closed, announced in the `Keep-Alive` header; with 0, each connection is
   * closed after its response. In milliseconds, enforced up to two seconds later. `undefined` means 72 seconds if the
   * service trusts a proxy, because load balancers use connections again after up to 60 seconds, and otherwise five.
   */
  readonly keepAliveTimeoutMs: number | undefined
  /**
   * Maximum number of open connections. One more closes the connection that has been idle for the longest time; if none
   * is idle, it is itself closed.
   */
  readonly maxConnections: number
  /** Maximum number of open connections per IPv4 address or IPv6 /64 in each process. `undefined` means no limit. */
  readonly maxConnectionsPerAddress: number | undefined
  /**
   * Bytes of responses that are not flushed and of bodies that are not complete, of all connections together; further
   * requests wait, then the response is a 503. `undefined` means an eighth of V8's heap limit, in each process.
   */
  readonly maxBytesInFlight: number | undefined
  /** Milliseconds for requests in flight to finish when the server closes; then their connections are destroyed. */
  readonly shutdownTimeoutMs: number
}

const HOUR_MS = 3_600_000

/** Maximum delay of a Node timer, in milliseconds. */
const MAX_MS = 2_147_483_647

const timeout = Rule.milliseconds({ min: 0, max: MAX_MS }, HOUR_MS)

const connections = Rule.integer({ min: 1, max: 1_000_000 })

// With less, a few large lists or bodies would exhaust it.
const bytes = Rule.integer({ min: 1_048_576, max: 1_099_511_627_776 }, "BYTES")

// An empty host would listen on every interface.
const host = Rule.textWhere((given) => given !== "", "must be a host name or an IP address", "HOST")

const MEASURED = "`serve` keeps the bound that the attack tests measure"

/** The rule, the default and the flag of each option. */
export const table = {
  host: OptionTable.flag("host", host, "127.0.0.1"),
  port: OptionTable.flag("port", Rule.port, 3000),
  headersTimeoutMs: OptionTable.programOnly(timeout, 10_000, MEASURED),
  requestTimeoutMs: OptionTable.programOnly(timeout, 30_000, MEASURED),
  keepAliveTimeoutMs: OptionTable.flag("keep-alive", timeout, undefined, {
    defaultText: "5s, or 72s with trusted proxies"
  }),
  maxConnections: OptionTable.programOnly(connections, 10_000, MEASURED),
  maxConnectionsPerAddress: OptionTable.flag("max-connections-per-address", connections, undefined, {
    defaultText: "no limit"
  }),
  maxBytesInFlight: OptionTable.flag("max-bytes-in-flight", bytes, undefined, {
    defaultText: "an eighth of Node's heap limit"
  }),
  shutdownTimeoutMs: OptionTable.programOnly(
    timeout,
    10_000,
    "supervisors and `--workers` count on ten seconds"
  )
} satisfies OptionTable.OptionTable<NodeServerOptions>
