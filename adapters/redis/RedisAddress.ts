/** Parses the address of a Redis server, or of some nodes of a Redis Cluster. */
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"

/** A host name or IP address, and a port. */
export interface Host {
  readonly host: string
  readonly port: number
}

/** The hosts, the login and the database of Redis. */
export interface RedisAddress {
  /** One server, or some nodes of a cluster, which return the addresses of the other nodes. */
  readonly hosts: readonly [Host, ...ReadonlyArray<Host>]
  readonly isTls: boolean
  readonly username: string | undefined
  readonly password: Redacted.Redacted<string> | undefined
  /** Number of the logical database. */
  readonly database: number
}

/** Whether an address has a Redis scheme. */
export const isRedis = (address: string): boolean => /^rediss?:/.test(address)

/** The format of an address, as messages show it. */
export const FORM = "'redis://user:password@host:port'"

const DEFAULT_PORT = 6379

/**
 * Parses `redis://[user:password@]host[:port][,host[:port]…][/database]`, or `rediss://…` for TLS. Fails with a reason
 * that contains no part of the address, because the address may include a password.
 *
 * @example
 * ```ts
 * parse("redis://cache.example") // one server, port 6379, database 0
 * parse("rediss://:secret@a:7000,b:7000,c:7000") // nodes of a cluster, with TLS and a password
 * ```
 */
export const parse = (address: string): Result.Result<RedisAddress, string> => {
  const [, scheme, login, hostList, database] = PATTERN.exec(address) ?? []
  if (hostList === undefined) return Result.fail(/[?#]/.test(address) ? NO_PARAMETERS : INVALID)
  const hosts = hostList.split(",").map(hostOf)
  const [first, ...others] = hosts.filter((host) => host !== undefined)
  const decoded = decodeLogin(login ?? "")
  if (first === undefined || others.length + 1 < hosts.length || decoded === undefined)
    return Result.fail(INVALID)
  return Result.succeed({
    hosts: [first, ...others],
    isTls: scheme === "rediss",
    username: decoded.username === "" ? undefined : decoded.username,
    password: decoded.password === "" ? undefined : Redacted.make(decoded.password),
    database: Number(database ?? 0)
  })
}

/** Formats a host and its port, without the login. */
export const textOf = ({ host, port }: Host): string => `${host.includes(":") ? `[${host}]` : host}:${port}`

// The login ends at the last "@" before the path, as in a URL; "/", "#" and "?" must be percent-encoded in it.
const PATTERN = /^(rediss?):\/\/(?:([^/?#]*)@)?([^/?#@]+)(?:\/(\d{1,9})?)?$/

const INVALID = `must be ${FORM} or 'rediss://…' for TLS; separate several hosts of a cluster with commas; a database number may follow after '/'`
const NO_PARAMETERS =
  "must have no parameters after '?' or '#': escape these characters in a password, and specify your own certificate authority with NODE_EXTRA_CA_CERTS"

const hostOf = (text: string): Host | undefined => {
  const url = `redis://${text}`
  if (!URL.canParse(url)) return undefined
  const { hostname, pathname, port } = new URL(url)
  if (hostname === "" || pathname !== "") return undefined
  return { host: hostname.replace(/^\[(.*)\]$/, "$1"), port: port === "" ? DEFAULT_PORT : Number(port) }
}

const decodeLogin = (login: string): { readonly username: string; readonly password: string } | undefined => {
  const colon = login.indexOf(":")
  const [username, password] = colon < 0 ? [login, ""] : [login.slice(0, colon), login.slice(colon + 1)]
  try {
    return { username: decodeURIComponent(username), password: decodeURIComponent(password) }
  } catch {
    return undefined
  }
}
