/** Defines the options of a server. */
import * as OptionTable from "../../core/options/OptionTable.ts"
import * as Rule from "../../core/options/Rule.ts"
import * as TextForm from "../../core/options/TextForm.ts"

/** The complete options of a server. */
export interface NodeServerOptions {
  readonly host: string
  readonly port: number
  readonly headersTimeoutMs: number
  readonly requestTimeoutMs: number
  /**
   * In milliseconds, enforced up to two seconds later. With 0, nothing is announced and idle connections close after
   * `requestTimeoutMs`, or never if that is also 0.
   */
  readonly keepAliveTimeoutMs: number
  readonly maxConnections: number
  /** `undefined` means no limit. */
  readonly maxConnectionsPerAddress: number | undefined
  readonly shutdownTimeoutMs: number
}

/** Maximum delay of a Node timer, in milliseconds. */
const MAX_MS = 2_147_483_647

const timeout = Rule.milliseconds({ min: 0, max: MAX_MS })

const hour = TextForm.duration({ min: 0, max: 3_600_000 })

const connections = Rule.integer({ min: 1, max: 1_000_000 })

const MEASURED = "`serve` keeps the bound that docs/security.md promises"

/** Each option with its rule, default, flag and meaning. */
export const table = {
  // An empty host would listen on every interface.
  host: OptionTable.flag(
    Rule.textWhere((host) => host !== "", "must be a host name or an IP address"),
    {
      summary: "Address to listen on.",
      default: "127.0.0.1",
      flag: "host",
      placeholder: "HOST"
    }
  ),
  port: OptionTable.flag(Rule.integer({ min: 0, max: 65_535 }), {
    summary: "Port to listen on; 0 chooses a free port.",
    default: 3000,
    flag: "port",
    placeholder: "PORT"
  }),
  headersTimeoutMs: OptionTable.programOnly(timeout, {
    summary:
      "Milliseconds within which the header section of a request must arrive; otherwise the response is a 408.",
    default: 10_000,
    noFlag: MEASURED
  }),
  requestTimeoutMs: OptionTable.programOnly(timeout, {
    summary: "Milliseconds within which a whole request must arrive; otherwise the response is a 408.",
    default: 30_000,
    noFlag: MEASURED
  }),
  keepAliveTimeoutMs: OptionTable.flag(Rule.written(timeout, hour), {
    summary: "Time after which an idle connection is closed, announced in the `Keep-Alive` header.",
    default: 5_000,
    flag: "keep-alive"
  }),
  maxConnections: OptionTable.programOnly(connections, {
    summary: "Maximum number of open connections; further ones are closed immediately.",
    default: 10_000,
    noFlag: MEASURED
  }),
  maxConnectionsPerAddress: OptionTable.flag(connections, {
    summary: "Maximum number of open connections per IPv4 address or IPv6 /64 in each process.",
    default: undefined,
    defaultText: "no limit",
    flag: "max-connections-per-address"
  }),
  shutdownTimeoutMs: OptionTable.programOnly(timeout, {
    summary:
      "Milliseconds for requests in flight to finish when the server closes; then their connections are destroyed.",
    default: 10_000,
    noFlag: "supervisors and `--workers` count on ten seconds"
  })
} satisfies OptionTable.OptionTable<NodeServerOptions>
