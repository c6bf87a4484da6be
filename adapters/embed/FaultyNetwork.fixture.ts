/** The network between a program and a server, with the faults that networks have. */
import * as Net from "node:net"

/** One connection: the client's half and the server's. */
interface Pair {
  readonly client: Net.Socket
  readonly server: Net.Socket
}

/** A relay on a free port of the loopback address. */
export interface FaultyNetwork {
  readonly port: number
  /** Carries everything; what hung goes on where it was. */
  readonly pass: () => Promise<void>
  /** Carries nothing, on old connections and new ones, which are accepted. */
  readonly hang: () => void
  /** Forgets the connections there are: they stay open and are never answered. New ones work. */
  readonly forget: () => void
  /** Cuts the connections there are; new ones work. */
  readonly cut: () => void
  /** Cuts the connections there are and refuses new ones. */
  readonly refuse: () => Promise<void>
  /** How many connections are open. */
  readonly connections: () => number
  readonly close: () => Promise<void>
}

/** `onAnswer` hears what the server says on any of the connections. */
export const make = async (
  host: string,
  port: number,
  onAnswer: (connection: Net.Socket, chunk: Buffer) => void = () => {}
): Promise<FaultyNetwork> => {
  const pairs = new Set<Pair>()
  const forgotten = new Set<Net.Socket>()
  let isHanging = false

  const listener = Net.createServer((client) => {
    const server = Net.connect({ host, port })
    const pair = { client, server }
    pairs.add(pair)
    const end = (): void => {
      if (!pairs.delete(pair)) return
      client.destroy()
      server.destroy()
    }
    server.on("data", (chunk) => onAnswer(server, chunk))
    for (const [from, to] of [
      [client, server],
      [server, client]
    ] as const) {
      from.setNoDelay(true)
      from.on("data", (chunk) => {
        if (pairs.has(pair)) to.write(chunk)
      })
      from.on("error", end)
      from.on("close", end)
      if (isHanging) from.pause()
    }
  })

  const listen = (on: number): Promise<void> =>
    new Promise((resolve) => listener.listen(on, "127.0.0.1", resolve))

  const cut = (): void => {
    for (const { client, server } of pairs) {
      client.resetAndDestroy()
      server.destroy()
    }
  }

  const stopListening = (): Promise<void> =>
    new Promise((resolve) => {
      if (!listener.listening) return resolve()
      for (const socket of forgotten) socket.destroy()
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
    forget: () => {
      for (const pair of pairs) {
        pairs.delete(pair)
        forgotten.add(pair.client)
        pair.client.once("close", () => forgotten.delete(pair.client))
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
