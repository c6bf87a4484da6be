/** Occupies ports, as other programs do, and checks whether a server accepts connections. */
import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net"
import { onTestFinished } from "vitest"

/** Listens on a free port of the loopback address until the test ends. */
export const listen = async (onConnection: (socket: Socket) => void = () => undefined): Promise<Server> => {
  const server = createServer(onConnection).listen(0, "127.0.0.1")
  onTestFinished(() => void server.close())
  await once(server, "listening")
  return server
}

/** Returns the port of a server. */
export const portOf = (server: Server): number => (server.address() as AddressInfo).port // the address of a TCP server is neither a pipe name nor null

/** Returns a port on which another program listens until the test ends. */
export const occupy = async (): Promise<number> => portOf(await listen())

/** Whether nothing listens at the address of a URL. */
export const refusesConnections = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname, () => {
      socket.destroy()
      resolve(false)
    })
    socket.once("error", () => resolve(true))
  })
