/** Whom an unauthenticated request is counted for. */

/**
 * The address that trusted proxies vouch for: each appends the address it was called from to `X-Forwarded-For`, so the
 * value `hops` from the right was written by the outermost of them. Without trusted proxies it is the peer's.
 */
export const effective = (
  peer: string | undefined,
  forwardedFor: string | undefined,
  hops: number
): string | undefined => {
  if (hops === 0 || forwardedFor === undefined) return peer
  const addresses = forwardedFor.split(",")
  const address = withoutPort(addresses[Math.max(addresses.length - hops, 0)]?.trim() ?? "")
  return groupsOf(address) === undefined ? peer : address
}

/** The networks that an address is counted for. */
export interface Networks {
  /** An IPv4 address, also when written as IPv6, or the /64 of an IPv6 address: whoever holds one of it holds all. */
  readonly network: string
  /** The /48 of an IPv6 address, which is what one site is given at most (RFC 6177): it has 65 536 networks. */
  readonly site: string | undefined
}

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

/** The smallest network that an address is counted for. */
export const network = (address: string | undefined): string => networksOf(address).network

/** The leading groups of an IPv6 address as a network, such as `2001:db8:1::/48`. */
const prefix = (groups: ReadonlyArray<number>, count: number): string =>
  `${groups
    .slice(0, count)
    .map((group) => group.toString(16))
    .join(":")}::/${16 * count}`

// Nearly every address: taking it apart as the rare ones are would cost more than the whole 401 around it.
const plainIpv4 =
  /^(?:::ffff:)?((?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3})$/i

/** Some proxies write the port as well; each connection would be a caller of its own. */
const withoutPort = (text: string): string =>
  text.replace(/^\[(.*)\](?::\d+)?$/, "$1").replace(/^([\d.]+):\d+$/, "$1")

/** The eight 16-bit groups of an address, an IPv4 one read as `::ffff:a.b.c.d`; `undefined` when it is none. */
const groupsOf = (address: string): ReadonlyArray<number> | undefined => {
  const dotted = /^(.*:)?(\d{1,3}(?:\.\d{1,3}){3})$/.exec(address)
  if (dotted?.[2] !== undefined) {
    const bytes = dotted[2].split(".").map(Number)
    if (bytes.some((byte) => byte > 255)) return undefined
    const [high, low] =
      bytes
        .map((byte) => byte.toString(16).padStart(2, "0"))
        .join("")
        .match(/.{4}/g) ?? []
    return groupsOf(`${dotted[1] ?? "::ffff:"}${high}:${low}`)
  }
  const [head = [], tail, ...more] = address.split("::").map((half) => (half === "" ? [] : half.split(":")))
  const omitted = 8 - head.length - (tail?.length ?? 0)
  if (more.length > 0 || (tail === undefined ? omitted !== 0 : omitted < 1)) return undefined
  const groups = [...head, ...Array.from({ length: omitted }, () => "0"), ...(tail ?? [])]
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return undefined
  return groups.map((group) => Number.parseInt(group, 16))
}
