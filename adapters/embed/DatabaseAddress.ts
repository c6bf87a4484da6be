/** Parses the address of a database. */
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as RedisAddress from "../redis/RedisAddress.ts"

/** The parsed address of a database. */
export type DatabaseAddress =
  | { readonly kind: "memory" }
  | { readonly kind: "sqlite"; readonly filename: string }
  | { readonly kind: "postgres"; readonly url: Redacted.Redacted<string> }
  | { readonly kind: "redis"; readonly url: Redacted.Redacted<string> }

/**
 * Parses an address, or fails with a reason. The reason never contains the address, which may include a password.
 * Redis stores only limits, so only the reason for `purpose` "limits" mentions it.
 *
 * @example
 * ```ts
 * parse("sqlite:data/animals.db") // { kind: "sqlite", filename: "data/animals.db" }
 * parse("sqlite:///var/lib/animals.db") // { kind: "sqlite", filename: "/var/lib/animals.db" }
 * ```
 */
export const parse = (
  address: string,
  purpose: "database" | "limits" = "database"
): Result.Result<DatabaseAddress, string> => {
  const forms = purpose === "limits" ? LIMITS_FORMS : DATABASE_FORMS
  if (address === "memory:") return Result.succeed({ kind: "memory" })
  if (address.startsWith("sqlite:")) return parseFilename(address.slice("sqlite:".length), forms)
  if (SEVERAL_HOSTS.test(address)) return Result.fail(ONE_HOST)
  // "#" is rejected: an unescaped "#" in a password would start the fragment and change the host.
  if (/^postgres(?:ql)?:\/\/[^#]*$/.test(address) && URL.canParse(address)) {
    return Result.succeed({ kind: "postgres", url: Redacted.make(address) })
  }
  if (RedisAddress.isRedis(address)) {
    return Result.map(RedisAddress.parse(address), () => ({ kind: "redis", url: Redacted.make(address) }))
  }
  return Result.fail(forms)
}

const POSTGRES_FORM = "'postgres://user:password@host:port/database'"
const DATABASE_FORMS = `must be 'memory:', 'sqlite:PATH' or ${POSTGRES_FORM}`
const LIMITS_FORMS = `must be 'memory:', 'sqlite:PATH', ${POSTGRES_FORM} or ${RedisAddress.FORM}`

/** Matches an address of PostgreSQL with a comma after its password, or in its parameter `host`. */
const SEVERAL_HOSTS =
  /^postgres(?:ql)?:\/\/(?:(?:[^/?#]*@)?[^@/?#]*,[^@/?#]*(?:[/?#]|$)|[^?#]*\?(?:[^#]*&)?host=[^&#]*,)/
const ONE_HOST =
  "must name one PostgreSQL host: pass an address that leads to the primary, such as that of a proxy"

/** Parses the part after `sqlite:`: a path, or an absolute path after an empty host. */
const parseFilename = (path: string, forms: string): Result.Result<DatabaseAddress, string> => {
  const filename = path.startsWith("///") ? path.slice("//".length) : path
  if (filename.startsWith("//")) return Result.fail(HOST)
  if (/^~[^/]*(?:\/|$)/.test(filename)) return Result.fail(HOME)
  if (/\p{Cc}/u.test(filename)) return Result.fail(CONTROL)
  if (filename.includes("?")) return Result.fail(PARAMETERS)
  if (filename.startsWith("file:")) return Result.fail(FILE)
  // SQLite's own in-memory database is `:memory:`, which would be a file name here.
  if (filename === "" || filename === ":memory:") return Result.fail(forms)
  return Result.succeed({ kind: "sqlite", filename })
}

const HOST =
  "must have no host after 'sqlite:': write 'sqlite:PATH' for a relative path, or 'sqlite:///PATH' for an absolute one"
const CONTROL =
  "must not contain a control character, such as the carriage return at the end of a line from Windows: write only the path"
const PARAMETERS = "must not contain '?', because SQLite's parameters are not supported: write 'sqlite:PATH'"
const FILE = "must not contain 'file:' after 'sqlite:': write 'sqlite:PATH'"
const HOME =
  "must not start with '~', which is not expanded here: write $HOME in the shell, or the whole path"
