/** Chooses the host in URLs of servers on this machine. */

/** Returns the host for URLs on this machine, given the host that the server is bound to. */
export const of = (host: string): string => {
  if (host === "0.0.0.0") return "127.0.0.1"
  if (host === "::") return "[::1]"
  return host.includes(":") ? `[${host}]` : host
}
