/** Limits the number of open connections per client address. */
import type { Socket } from "node:net"
import * as ClientAddress from "../../core/service/ClientAddress.ts"

/** Counts the open connections per IPv4 address and IPv6 /64. */
export class AddressLimit {
  readonly #max: number | undefined
  readonly #counts = new Map<string, number>()

  constructor(max: number | undefined) {
    this.#max = max
  }

  /**
   * Returns false if the connection would exceed the limit. Otherwise counts the connection until it closes, and returns
   * true; without a limit, nothing is counted.
   */
  admit(socket: Socket): boolean {
    if (this.#max === undefined) return true
    const network = ClientAddress.networksOf(socket.remoteAddress).network
    const count = this.#counts.get(network) ?? 0
    if (count >= this.#max) return false
    this.#counts.set(network, count + 1)
    socket.once("close", () => {
      const remaining = (this.#counts.get(network) ?? 0) - 1
      if (remaining > 0) this.#counts.set(network, remaining)
      else this.#counts.delete(network)
    })
    return true
  }
}
