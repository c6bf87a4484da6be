/** Sends a burst of requests, in its own process, and reads each response whole. */
import { Buffer } from "node:buffer"
import * as net from "node:net"
import type { BurstOutcome, BurstTask } from "./Burst.fixture.ts"

/** Number of connections that are opened at the same time; the backlog of a listener has room for 511. */
const MAX_OPENING = 100

const send = (task: BurstTask): Promise<BurstOutcome> =>
  new Promise((resolve) => {
    const statuses: Record<string, number> = {}
    let since = performance.now()
    const encoded = task.requests.map((request) => Buffer.from(request, "latin1"))
    let [open, unanswered, incomplete503, ms] = [task.connections, 0, 0, 0]
    const sockets = new Set<net.Socket>()
    const starts: Array<() => void> = []

    /** Sends all requests once all connections are open. */
    const connected = (start: () => void): void => {
      starts.push(start)
      if (started < task.connections) connect(started++)
      if (starts.length < task.connections) return
      since = performance.now()
      for (const startNext of starts) startNext()
    }

    const settle = (): void => {
      if (--open > 0) return
      clearTimeout(timer)
      resolve({ statuses, unanswered, incomplete503, ms })
    }

    const receive = (head: string): void => {
      const status = head.slice("HTTP/1.1 ".length, "HTTP/1.1 200".length)
      statuses[status] = (statuses[status] ?? 0) + 1
      if (status === "503" && !(/\r\nRetry-After: /.test(head) && /\r\nX-RateLimit-Limit: /.test(head))) {
        incomplete503++
      }
      ms = performance.now() - since
    }

    const connect = (index: number): void => {
      const request = encoded[index % encoded.length] ?? Buffer.alloc(0)
      const socket = net.connect({ port: task.port, host: "127.0.0.1", noDelay: true })
      sockets.add(socket)
      let isSettled = false
      let head = ""
      let missing = Number.POSITIVE_INFINITY
      const end = (): void => {
        if (isSettled) return
        isSettled = true
        sockets.delete(socket)
        socket.destroy()
        settle()
      }
      socket.once("connect", () => {
        connected(() => {
          if (task.withholdMs === undefined) return void socket.write(request)
          socket.write(request.subarray(0, -1))
          if (index < (task.incomplete ?? 0)) return
          setTimeout(() => socket.writable && socket.write(request.subarray(-1)), task.withholdMs)
        })
      })
      socket.on("data", (chunk) => {
        if (missing === Number.POSITIVE_INFINITY) {
          head += chunk.toString("latin1")
          const bodyStart = head.indexOf("\r\n\r\n") + 4
          if (bodyStart < 4) return
          missing = Number(/\r\nContent-Length: ([0-9]+)/i.exec(head)?.[1]) - (head.length - bodyStart)
          head = head.slice(0, bodyStart)
        } else missing -= chunk.length
        if (missing > 0) return
        receive(head)
        end()
      })
      socket.on("error", () => undefined)
      socket.once("close", () => {
        if (isSettled) return
        sockets.delete(socket)
        unanswered++
        isSettled = true
        settle()
      })
    }

    const timer = setTimeout(() => {
      unanswered += open
      resolve({ statuses, unanswered, incomplete503, ms })
      for (const socket of sockets) socket.destroy()
    }, task.timeoutMs)
    let started = Math.min(MAX_OPENING, task.connections)
    for (let index = 0; index < started; index++) connect(index)
  })

process.once("message", (task: BurstTask) => {
  void send(task).then((outcome) => process.send?.(outcome))
})
process.on("disconnect", () => process.exit())
