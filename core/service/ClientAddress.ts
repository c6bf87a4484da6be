/** Determines client addresses, and the networks against which unauthenticated requests are counted. */
import type { ServiceRequest } from "./ServiceRequest.ts"

/**
 * Returns the client address of a request behind `hops` trusted proxies; `undefined` if it is unknown. Each proxy appends
 * the address of its peer to `X-Forwarded-For`, so the outermost of them wrote the value at position `hops` from the
 * right. Returns the address of the peer if no proxy is trusted or the value is invalid.
 */
export const of = (
  request: Pick<ServiceRequest, "clientAddress" | "header">,
  hops: number
): string | undefined => {
  const peer = request.clientAddress
  const forwardedFor = hops === 0 ? undefined : request.header("x-forwarded-for")
  if (forwardedFor === undefined) return peer
  const addresses = forwardedFor.split(",")
  const address = withoutPort(addresses[Math.max(addresses.length - hops, 0)]?.trim() ?? "")
  return groupsOf(address) === undefined ? peer : address
}

/** The networks against which requests from an address are counted. */
export interface Networks {
  /** The IPv4 address, without an IPv4-mapped prefix; or the IPv6 /64, which one host usually controls. */
  readonly network: string
  /** The IPv6 /48, the largest network usually assigned to one site (RFC 6177); `undefined` for IPv4. */
  readonly site: string | undefined
}

/** Returns the networks of an address. An invalid address is a network of its own. */
export const networksOf = (address: string | undefined): Networks => {
  if (address === undefined) return { network: "unknown", site: undefined }
  const ipv4 = plainIpv4.exec(address)?.[1]
  if (ipv4 !== undefined) return { network: ipv4, site: undefined }
  const groups = groupsOf(address.replace(/%.*$/, ""))
  if (groups === undefined) return { network: address, site: undefined }
  if (groups.slice(0, 6).join() === "0,0,0,0,0,65535") {
    const bytes = groups.slice(6).map((group) => `${group >> 8}.${group & 0xff}`)
    return { network: bytes.join("."), site: undefined }
  }
  return { network: prefix(groups, 4), site: prefix(groups, 3) }
}

/** Formats the leading groups of an IPv6 address as a network, such as `2001:db8:1::/48`. */
const prefix = (groups: ReadonlyArray<number>, count: number): string =>
  `${groups
    .slice(0, count)
    .map((group) => group.toString(16))
    .join(":")}::/${16 * count}`

// Fast path for plain IPv4: takes 0.04–0.1 µs of CPU time instead of 3–5 µs, which is a tenth of the time of a 401
// response with the memory store.
const plainIpv4 =
  /^(?:::ffff:)?((?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3})$/i

/** Removes the port that some proxies append; with the port, each connection would be counted separately. */
const withoutPort = (text: string): string =>
  text.replace(/^\[(.*)\](?::\d+)?$/, "$1").replace(/^([\d.]+):\d+$/, "$1")

/** Parses an address into eight 16-bit groups, IPv4 as `::ffff:a.b.c.d`; returns `undefined` if it is invalid. */
const groupsOf = (address: string): ReadonlyArray<number> | undefined => {
  const dotted = /^(.*:)?(\d{1,3}(?:\.\d{1,3}){3})$/.exec(address)
  if (dotted?.[2] !== undefined) {
    const [a = 0, b = 0, c = 0, d = 0] = dotted[2].split(".").map(Number)
    if (Math.max(a, b, c, d) > 255) return undefined
    const hex = (high: number, low: number): string => ((high << 8) | low).toString(16)
    return groupsOf(`${dotted[1] ?? "::ffff:"}${hex(a, b)}:${hex(c, d)}`)
  }
  const [head = [], tail, ...more] = address.split("::").map((half) => (half === "" ? [] : half.split(":")))
  const omitted = 8 - head.length - (tail?.length ?? 0)
  if (more.length > 0 || (tail === undefined ? omitted !== 0 : omitted < 1)) return undefined
  const groups = [...head, ...Array.from({ length: omitted }, () => "0"), ...(tail ?? [])]
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return undefined
  return groups.map((group) => Number.parseInt(group, 16))
}
