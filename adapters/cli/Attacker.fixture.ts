/** Applies a hostile load, in its own process. It only counts responses, and reopens closed connections. */
import { Buffer } from "node:buffer"
import * as net from "node:net"
import type { HostileOutcome, HostileTask } from "./HostileLoad.fixture.ts"

/** Delay in milliseconds before a closed connection is opened again. */
const RECONNECT_MS = 100

const STATUS_LINE = "HTTP/1.1 "

const attack = async (task: HostileTask): Promise<HostileOutcome> => {
  let requests = 0
  let responses = 0
  let serverErrors = 0
  let closed = 0
  let isOver = false
  let addresses = 0
  const sockets = new Set<net.Socket>()
  const hasAddress = task.request.includes("{address}")
  const fixed = Buffer.from(task.request.repeat(task.pipelined), "latin1")

  const nextBatch = (): Buffer => {
    if (!hasAddress) return fixed
    const batch = Array.from({ length: task.pipelined }, () =>
      task.request.replace("{address}", addressOf(addresses++))
    )
    return Buffer.from(batch.join(""), "latin1")
  }

  const sendAll = (socket: net.Socket): void => {
    if (isOver || socket.destroyed) return
    socket.write(nextBatch(), (error) => {
      if (error != null) return
      requests += task.pipelined
      // Sends in a later turn of the event loop; otherwise connections that accept all data would block the timer that
      // ends the load.
      if (task.reading !== "before sending again") setImmediate(sendAll, socket)
    })
  }

  const sendBytes = (socket: net.Socket, intervalMs: number): void => {
    let sent = 0
    const timer = setInterval(() => {
      socket.write(fixed.subarray(sent, sent + 1))
      sent++
      if (sent < fixed.length) return
      requests += task.pipelined
      clearInterval(timer)
    }, intervalMs)
    socket.once("close", () => clearInterval(timer))
  }

  const read = (socket: net.Socket): ((chunk: Buffer) => void) => {
    let rest = ""
    let due = task.pipelined
    return (chunk) => {
      const text = rest + chunk.toString("latin1")
      let end = 0
      for (let start = text.indexOf(STATUS_LINE); start >= 0; start = text.indexOf(STATUS_LINE, end)) {
        const status = text[start + STATUS_LINE.length]
        if (status === undefined) break
        end = start + STATUS_LINE.length
        responses++
        if (status === "5") serverErrors++
        if (--due > 0) continue
        due = task.pipelined
        if (task.reading === "before sending again") sendAll(socket)
      }
      // A status line that is split between chunks is found with the next chunk.
      rest = text.slice(Math.max(end, text.length - STATUS_LINE.length))
    }
  }

  const openConnection = (): void => {
    if (isOver) return
    const socket = net.connect({ port: task.port, host: "127.0.0.1", noDelay: true })
    sockets.add(socket)
    if (task.reading !== "never") socket.on("data", read(socket))
    socket.on("error", () => undefined)
    socket.once("connect", () => {
      if (task.opening !== undefined) socket.write(task.opening, "latin1")
      if (task.byteIntervalMs === undefined) sendAll(socket)
      else sendBytes(socket, task.byteIntervalMs)
    })
    // The server has closed its side, so the connection is closed.
    socket.once("end", () => socket.destroy())
    socket.once("close", () => {
      sockets.delete(socket)
      if (isOver) return
      closed++
      setTimeout(openConnection, RECONNECT_MS)
    })
  }

  for (let index = 0; index < task.connections; index++) openConnection()
  await new Promise((resolve) => setTimeout(resolve, task.seconds * 1_000))
  isOver = true
  for (const socket of sockets) socket.destroy()
  return { requests, responses, serverErrors, closed }
}

/** Returns an address in a different network for each index: alternately IPv4 and IPv6, the latter in different /48s. */
const addressOf = (index: number): string => {
  const half = index >>> 1
  const [high, middle, low] = [(half >>> 16) & 0xff, (half >>> 8) & 0xff, half & 0xff]
  return index % 2 === 0
    ? `11.${high}.${middle}.${low}`
    : `2a0${high % 10}:${(half & 0xffff).toString(16)}:${(half >>> 16).toString(16)}::1`
}

process.once("message", (task: HostileTask) => {
  void attack(task).then((outcome) => process.send?.(outcome))
})
process.on("disconnect", () => process.exit())
