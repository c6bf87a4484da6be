import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as ClientAddress from "./ClientAddress.ts"

describe("ClientAddress.networksOf", () => {
  it.each([
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"],
    ["2001:db8:1::", "2001:db8:1::/48"],
    ["::1", "0:0:0::/48"],
    ["fe80::1%eth0", "fe80:0:0::/48"],
    ["192.0.2.7", undefined],
    ["::ffff:192.0.2.7", undefined],
    ["no address", undefined],
    [undefined, undefined]
  ])("maps %s to the site %s", (address, site) => {
    expect(ClientAddress.networksOf(address).site).toBe(site)
  })
})

const networkOf = (address: string | undefined) => ClientAddress.networksOf(address).network

describe("ClientAddress.networksOf(address).network", () => {
  it.each([
    ["192.0.2.7", "192.0.2.7"],
    ["::ffff:192.0.2.7", "192.0.2.7"],
    ["::FFFF:192.0.2.7", "192.0.2.7"],
    ["0:0:0:0:0:ffff:192.0.2.7", "192.0.2.7"],
    ["::ffff:c000:207", "192.0.2.7"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8:1:2::", "2001:db8:1:2::/64"],
    ["2001:DB8:0001:2::9", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["2001::1:2:3:4:192.0.2.7", "2001:0:1:2::/64"],
    ["::1", "0:0:0:0::/64"],
    ["::", "0:0:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"]
  ])("maps %s to the network %s", (address, network) => {
    expect(networkOf(address)).toBe(network)
  })

  it('returns "unknown" for an undefined address', () => {
    expect(networkOf(undefined)).toBe("unknown")
  })

  const group = fc.integer({ min: 0, max: 0xffff })

  it("returns the same network for all addresses in a /64, and different networks for different /64s", () => {
    fc.assert(
      fc.property(
        fc.tuple(fc.integer({ min: 1, max: 0xffff }), group, group, group),
        fc.tuple(fc.integer({ min: 1, max: 0xffff }), group, group, group),
        fc.tuple(group, group, group, group),
        fc.tuple(group, group, group, group),
        (prefix, otherPrefix, host, neighbor) => {
          const text = (groups: ReadonlyArray<number>) => groups.map((group) => group.toString(16)).join(":")
          const network = networkOf(text([...prefix, ...host]))
          expect(networkOf(text([...prefix, ...neighbor]))).toBe(network)
          const otherNetwork = networkOf(text([...otherPrefix, ...host]))
          expect(otherNetwork === network).toBe(text(prefix) === text(otherPrefix))
        }
      )
    )
  })

  it("returns the same network for all notations of an IPv6 address", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.constant(0), group), { minLength: 8, maxLength: 8 }),
        fc.nat({ max: 7 }),
        fc.nat({ max: 8 }),
        (groups, from, length) => {
          const hex = groups.map((group) => group.toString(16))
          const long = hex.map((digits) => digits.padStart(4, "0").toUpperCase()).join(":")
          const zeros = hex.slice(from, from + length)
          const short =
            zeros.length > 0 && zeros.every((digits) => digits === "0")
              ? `${hex.slice(0, from).join(":")}::${hex.slice(from + length).join(":")}`
              : hex.join(":")
          expect(networkOf(short)).toBe(networkOf(long))
        }
      )
    )
  })

  it("returns the plain IPv4 address for an IPv4 or IPv4-mapped address", () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(networkOf(address)).toBe(address)
        expect(networkOf(`::ffff:${address}`)).toBe(address)
      })
    )
  })

  it("returns a network without NaN for any text", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.ipV6(), fc.stringMatching(/^[0-9a-f:.%]{0,50}$/)), (text) => {
        expect(networkOf(text)).not.toContain("NaN")
      }),
      { numRuns: 1000 }
    )
  })
})

const effective = (peer: string | undefined, forwardedFor: string | undefined, hops: number) =>
  ClientAddress.of(
    { clientAddress: peer, header: (name) => (name === "x-forwarded-for" ? forwardedFor : undefined) },
    hops
  )

describe("ClientAddress.of", () => {
  const peer = "10.0.0.1"

  it.each([
    { hops: 0, header: "203.0.113.9", expected: peer, reason: "no proxy is trusted" },
    { hops: 1, header: undefined, expected: peer, reason: "the proxy sent no header" },
    { hops: 1, header: "203.0.113.9", expected: "203.0.113.9", reason: "the proxy appended this address" },
    {
      hops: 1,
      header: "6.6.6.6, 203.0.113.9",
      expected: "203.0.113.9",
      reason: "the client forged the first value"
    },
    {
      hops: 2,
      header: "203.0.113.9,10.0.0.2",
      expected: "203.0.113.9",
      reason: "two proxies appended values"
    },
    {
      hops: 2,
      header: "6.6.6.6, 203.0.113.9, 10.0.0.2",
      expected: "203.0.113.9",
      reason: "the first value is forged"
    },
    { hops: 2, header: "203.0.113.9", expected: "203.0.113.9", reason: "the request passed only one proxy" },
    { hops: 1, header: "6.6.6.6,  2001:db8::7 ", expected: "2001:db8::7", reason: "spaces are ignored" },
    { hops: 1, header: "203.0.113.9:51234", expected: "203.0.113.9", reason: "the port is removed" },
    { hops: 1, header: "[2001:db8::7]:51234", expected: "2001:db8::7", reason: "the port is removed" },
    { hops: 1, header: "[2001:db8::7]", expected: "2001:db8::7", reason: "brackets are removed" },
    {
      hops: 1,
      header: "::ffff:203.0.113.9",
      expected: "::ffff:203.0.113.9",
      reason: "IPv4-mapped addresses are valid"
    }
  ])("returns $expected for $hops trusted proxies and $header: $reason", ({ expected, header, hops }) => {
    expect(effective(peer, header, hops)).toBe(expected)
  })

  it.each([
    "",
    " ",
    ",",
    "unknown",
    "_hidden",
    "203.0.113.9, unknown",
    "203.0.113.9,",
    "203.0.113",
    "203.0.113.256",
    "203.0.113.9.1",
    "0x7f.1",
    "....",
    ":::",
    "::::",
    "1::2::3",
    "1:2:3",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "1:2:3:4::5:6:7:8",
    "1:2:3:4:5:6:7::8:9",
    "1:2:3:4:5:6:7:192.0.2.7",
    "12345::",
    "g::",
    ":1:2:3:4:5:6:7",
    "[203.0.113.9",
    "203.0.113.9:port",
    "__proto__",
    "١٩٢.0.2.7",
    "'; drop table pets",
    "1".repeat(10_000)
  ])("returns the peer's address if the header is invalid: %j", (header) => {
    expect(effective(peer, header, 1)).toBe(peer)
  })

  it("returns undefined if the peer's address is unknown and the header contains no address", () => {
    expect(effective(undefined, undefined, 0)).toBeUndefined()
    expect(effective(undefined, "unknown", 1)).toBeUndefined()
  })

  it("ignores values that a client puts before those of the proxies", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.ipV4(), fc.ipV6()), { minLength: 1, maxLength: 3 }),
        fc.oneof(fc.string(), fc.ipV4()),
        (proxyValues, forged) => {
          const withoutForgery = effective(peer, proxyValues.join(", "), proxyValues.length)
          expect(effective(peer, `${forged}, ${proxyValues.join(", ")}`, proxyValues.length)).toBe(
            withoutForgery
          )
        }
      )
    )
  })

  it("returns the IPv4 or IPv6 address that a trusted proxy appends, and never undefined if the peer is known", () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), fc.string(), fc.nat({ max: 3 }), (address, text, hops) => {
        expect(effective(peer, address, 1)).toBe(address)
        expect(effective(peer, text, hops)).toBeDefined()
      }),
      { numRuns: 500 }
    )
  })
})
