/** Relays TCP connections between a client and a server, and injects network faults. */
import * as Net from "node:net"

/** The two sockets of a relayed connection. */
interface Pair {
  readonly client: Net.Socket
  readonly server: Net.Socket
}

/** A relay on a free port of the loopback address. */
export interface FaultyNetwork {
  readonly port: number
  /** Relays all data again: hanging connections continue, and after `refuse`, new connections are accepted. */
  readonly pass: () => Promise<void>
  /** Accepts connections but relays no data, on old and new connections. */
  readonly hang: () => void
  /** Relays the data that the server sends from now on `ms` milliseconds late, on old and new connections. */
  readonly delay: (ms: number) => void
  /** Silently discards the data of open connections, which stay open. New connections work. */
  readonly blackhole: () => void
  /** Resets open connections. New connections work. */
  readonly cut: () => void
  /** Resets open connections and refuses new ones. */
  readonly refuse: () => Promise<void>
  /** Returns the number of open connections. */
  readonly connections: () => number
  readonly close: () => Promise<void>
}

/** Starts a relay to `host` on a free loopback port; `onResponse` receives the data that the server sends. */
export const make = async (
  host: string,
  port: number,
  onResponse: (connection: Net.Socket, chunk: Buffer) => void = () => {}
): Promise<FaultyNetwork> => {
  const pairs = new Set<Pair>()
  const blackholed = new Set<Net.Socket>()
  let isHanging = false
  let delayMs = 0

  const listener = Net.createServer((client) => {
    const server = Net.connect({ host, port })
    const pair = { client, server }
    pairs.add(pair)
    const end = (): void => {
      if (!pairs.delete(pair)) return
      client.destroy()
      server.destroy()
    }
    server.on("data", (chunk) => onResponse(server, chunk))
    for (const [from, to] of [
      [client, server],
      [server, client]
    ] as const) {
      from.setNoDelay(true)
      /** When the latest delayed chunk is relayed; later chunks must not overtake it. */
      let freeAt = 0
      from.on("data", (chunk) => {
        const relay = () => {
          if (pairs.has(pair)) to.write(chunk)
        }
        const now = performance.now()
        freeAt = Math.max(freeAt, now + (from === server ? delayMs : 0))
        if (freeAt > now) setTimeout(relay, freeAt - now)
        else relay()
      })
      from.on("error", end)
      from.on("close", end)
      if (isHanging) from.pause()
    }
  })

  const listen = (listenPort: number): Promise<void> =>
    new Promise((resolve) => listener.listen(listenPort, "127.0.0.1", resolve))

  const cut = (): void => {
    for (const { client, server } of pairs) {
      client.resetAndDestroy()
      server.destroy()
    }
  }

  const stopListening = (): Promise<void> =>
    new Promise((resolve) => {
      if (!listener.listening) return resolve()
      for (const socket of blackholed) socket.destroy()
      cut()
      listener.close(() => resolve())
    })

  await listen(0)
  const address = listener.address()
  if (typeof address !== "object" || address === null) throw new Error("not a TCP listener")

  return {
    port: address.port,
    pass: async () => {
      isHanging = false
      for (const { client, server } of pairs) {
        client.resume()
        server.resume()
      }
      if (!listener.listening) await listen(address.port)
    },
    hang: () => {
      isHanging = true
      for (const { client, server } of pairs) {
        client.pause()
        server.pause()
      }
    },
    delay: (ms) => {
      delayMs = ms
    },
    blackhole: () => {
      for (const pair of pairs) {
        pairs.delete(pair)
        blackholed.add(pair.client)
        pair.client.once("close", () => blackholed.delete(pair.client))
        pair.client.resume()
        pair.server.destroy()
      }
    },
    cut,
    refuse: stopListening,
    connections: () => pairs.size,
    close: stopListening
  }
}
