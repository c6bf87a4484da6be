/** Describes a hostile load, and applies it from another process. */
import { fork } from "node:child_process"
import { fileURLToPath } from "node:url"

/** A load: the number of connections, and what each of them does. */
export interface HostileLoad {
  readonly connections: number
  readonly seconds: number
  /** The bytes that each connection sends first, in one write. */
  readonly opening?: string
  /** The bytes of one request; `{address}` is replaced by a different IP address each time. */
  readonly request: string
  /** Number of requests in one write. */
  readonly pipelined: number
  /** When responses are read; with "before sending again", a connection first reads all due responses. */
  readonly reading: "never" | "while sending" | "before sending again"
  /**
   * If set, each connection sends one byte at this interval in milliseconds; by default, as fast as the server reads.
   */
  readonly byteIntervalMs?: number
}

/** The result of a load. */
export interface HostileOutcome {
  /** Requests whose bytes the operating system accepted; the server discards or never reads many of them. */
  readonly requests: number
  readonly responses: number
  /** Responses with a status of 500 or more. */
  readonly serverErrors: number
  /** Number of connections that were closed during the load. */
  readonly closed: number
}

/** A load, and the port to which it is applied. */
export interface HostileTask extends HostileLoad {
  readonly port: number
}

const attacker = fileURLToPath(new URL("./Attacker.fixture.ts", import.meta.url))

/** Applies a load to a port of the loopback address, from another process. */
export const apply = (port: number, load: HostileLoad): Promise<HostileOutcome> =>
  delegate<HostileTask, HostileOutcome>(attacker, { ...load, port })

/** Passes a task to a module that runs in another process, and returns the only message that it sends. */
export const delegate = <Task extends object, Outcome>(module: string, task: Task): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    const child = fork(module, { execArgv: [] })
    // The module sends nothing else.
    child.once("message", (outcome) => {
      resolve(outcome as Outcome)
      child.kill("SIGKILL")
    })
    child.once("exit", (code) => reject(new Error(`${module} exited with code ${code}`)))
    child.send(task)
  })

const HOST = "Host: animals.example"

/** Returns the bytes of a GET. */
export const get = (target: string, ...headers: ReadonlyArray<string>): string =>
  [`GET ${target} HTTP/1.1`, HOST, ...headers, "", ""].join("\r\n")

/** Returns the bytes of a POST with a body of `bodyBytes` bytes: an animal with a very long name. */
export const post = (bodyBytes: number, ...headers: ReadonlyArray<string>): string => {
  const frame = '{"name":"","categoryId":1}'
  const body = `{"name":"${"x".repeat(bodyBytes - frame.length)}","categoryId":1}`
  return [
    "POST /v1/pets HTTP/1.1",
    HOST,
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
    ...headers,
    "",
    body
  ].join("\r\n")
}
