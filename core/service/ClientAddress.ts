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
  const address = addresses[Math.max(addresses.length - hops, 0)]?.trim() ?? ""
  return /^[0-9a-fA-F.:]{2,45}$/.test(address) ? address : peer
}

/**
 * The network that shares one anonymous bucket: an IPv4 address, also when written as IPv6, or the /64 of an IPv6
 * address, since whoever holds one address of it holds them all.
 */
export const network = (address: string | undefined): string => {
  if (address === undefined) return "unknown"
  const mapped = /^::ffff:([0-9.]+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  if (!address.includes(":")) return address
  const [head = "", tail] = address.toLowerCase().split("::")
  const groups = head === "" ? [] : head.split(":")
  if (tail !== undefined) {
    const after = tail === "" ? [] : tail.split(":")
    while (groups.length + after.length < 8) groups.push("0")
    groups.push(...after)
  }
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":")}::/64`
}
