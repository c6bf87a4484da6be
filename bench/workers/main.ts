/**
 * `node bench/workers/main.ts [rounds] [seconds]`: measures how much a second worker increases the throughput of SQLite
 * reads, on two cores that the load generator shares (Linux only).
 *
 * Two workers share two cores with the load generator and perhaps other programs, so their throughput is a lower bound.
 * The kernel counts how long the main thread of each worker waited for a core. The capacity is the number of responses
 * divided by the remaining time. That time still includes waiting for other workers, for example for a lock of the
 * database, and waiting for requests.
 */
import { execFileSync, spawn } from "node:child_process"
import * as fs from "node:fs"
import * as net from "node:net"
import * as os from "node:os"
import * as path from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"

const CONNECTIONS = 64
const ANIMALS = 1_000
/** Number of animals that are created concurrently. */
const CONCURRENCY = 50
const WARM_UP_MS = 3_000
const TICKS_PER_SECOND = 100

const main = fileURLToPath(new URL("../../adapters/cli/main.ts", import.meta.url))

interface Outcome {
  readonly responses: number
  readonly seconds: number
  /** CPU seconds of each process of the server; the first is the primary or the only process. */
  readonly cpu: ReadonlyArray<number>
  readonly generatorCpu: number
  /** Seconds for which the main thread of each serving process waited for a core. */
  readonly waited: ReadonlyArray<number>
}

const childrenOf = (pid: number): ReadonlyArray<number> => {
  const children = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim()
  return children === "" ? [] : children.split(" ").map(Number)
}

const cpuOf = (pid: number): number => {
  const stat = fs.readFileSync(`/proc/${pid}/stat`, "utf8")
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

/** Returns the seconds for which the main thread was ready but had no core. */
const waitedOf = (pid: number): number =>
  Number(fs.readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[1]) / 1e9

/** Opens connections that each send requests in sequence; responses must have a Content-Length. */
const generate = (port: number, requests: ReadonlyArray<Buffer>) => {
  let responses = 0
  const sockets = Array.from({ length: CONNECTIONS }, (_, index) => {
    const socket = net.connect(port, "127.0.0.1")
    let next = index * 17
    let missingBytes = 0
    const send = (): void => void socket.write(requests[next++ % requests.length] ?? "")
    socket.setNoDelay(true)
    socket.on("connect", send)
    socket.on("data", (chunk) => {
      if (missingBytes > 0) missingBytes -= chunk.length
      else {
        const head = chunk.toString("latin1")
        if (!head.startsWith("HTTP/1.1 200")) throw new Error(head)
        const length = Number(/\r\ncontent-length: (\d+)\r\n/i.exec(head)?.[1])
        missingBytes = head.indexOf("\r\n\r\n") + 4 + length - chunk.length
      }
      if (missingBytes > 0) return
      responses++
      send()
    })
    return socket
  })
  return { responses: () => responses, close: () => sockets.forEach((socket) => void socket.destroy()) }
}

const measure = async (workers: number, seconds: number): Promise<Outcome> => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), "animal-store-bench-"))
  const server = spawn(
    process.execPath,
    [
      ...[main, "serve", "--json", "--port", "0", "--drain", "0", "--workers", String(workers)],
      ...["--database", `sqlite:${directory}/bench.db`],
      ...["--issue-key", "Enterprise:perMinute=1000000000,perDay=1000000000"]
    ],
    { stdio: ["ignore", "pipe", "ignore"] }
  )
  try {
    const line = await new Promise<string>((resolve) =>
      server.stdout.once("data", (text) => resolve(String(text)))
    )
    const { keys, url }: { readonly url: string; readonly keys: ReadonlyArray<{ readonly key: string }> } =
      JSON.parse(line)
    const headers = { Authorization: `Bearer ${keys[0]?.key}`, "Content-Type": "application/json" }
    for (let created = 0; created < ANIMALS; created += CONCURRENCY) {
      await Promise.all(
        Array.from({ length: CONCURRENCY }, (_, index) =>
          fetch(`${url}/pets`, {
            method: "POST",
            headers,
            body: `{"name":"Rex","categoryId":${created + index}}`
          })
        )
      )
    }
    const target = new URL(url)
    const requests = Array.from({ length: 500 }, (_, index) => {
      const resource = index % 5 === 0 ? "?limit=20" : `/${1 + ((index * 7919) % ANIMALS)}`
      return Buffer.from(
        `GET /v1/pets${resource} HTTP/1.1\r\nHost: ${target.host}\r\nAuthorization: ${headers.Authorization}\r\n\r\n`
      )
    })
    const load = generate(Number(target.port), requests)
    await sleep(WARM_UP_MS)
    const pids = [server.pid ?? 0, ...childrenOf(server.pid ?? 0)]
    const serving = pids.slice(workers === 1 ? 0 : 1)
    const before = {
      cpu: pids.map(cpuOf),
      waited: serving.map(waitedOf),
      responses: load.responses(),
      generator: process.cpuUsage()
    }
    const began = performance.now()
    await sleep(seconds * 1_000)
    const generator = process.cpuUsage(before.generator)
    const outcome = {
      responses: load.responses() - before.responses,
      seconds: (performance.now() - began) / 1_000,
      cpu: pids.map((pid, index) => cpuOf(pid) - (before.cpu[index] ?? 0)),
      generatorCpu: (generator.user + generator.system) / 1e6,
      waited: serving.map((pid, index) => waitedOf(pid) - (before.waited[index] ?? 0))
    }
    load.close()
    return outcome
  } finally {
    const exited = new Promise((resolve) => server.once("exit", resolve))
    server.kill("SIGTERM")
    await exited
    fs.rmSync(directory, { recursive: true })
  }
}

/** Estimates the responses per second that would be possible if each worker had its own core. */
const capacityOf = ({ responses, seconds, waited }: Outcome): number =>
  (waited.length * responses) / waited.reduce((sum, wait) => sum + seconds - wait, 0)

const median = (values: ReadonlyArray<number>): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

const rounds = Number(process.argv[2] ?? 5)
const seconds = Number(process.argv[3] ?? 5)
const ratios: Array<number> = []
const throughputs: Array<number> = []
console.log(
  `${execFileSync(process.execPath, ["--version"], { encoding: "utf8" }).trim()}, ${os.cpus().length} cores`
)
for (let round = 0; round < rounds; round++) {
  const outcomes: Array<Outcome> = []
  // The order alternates, so that changes in the machine's speed affect both.
  for (const workers of round % 2 === 0 ? [1, 2] : [2, 1]) {
    const outcome = await measure(workers, seconds)
    outcomes[workers] = outcome
    console.log(
      `${workers} worker(s): ${Math.round(outcome.responses / outcome.seconds)}/s; CPU seconds of the server's processes ` +
        `${outcome.cpu.map((used) => used.toFixed(2)).join(", ")}, of the generator ${outcome.generatorCpu.toFixed(2)}; ` +
        `seconds without a core ${outcome.waited.map((wait) => wait.toFixed(2)).join(", ")}; capacity ${Math.round(capacityOf(outcome))}/s`
    )
  }
  const [, single, pair] = outcomes
  if (single === undefined || pair === undefined) continue
  ratios.push(capacityOf(pair) / capacityOf(single))
  throughputs.push(pair.responses / pair.seconds / (single.responses / single.seconds))
}
const summary = (values: ReadonlyArray<number>): string =>
  `${median(values).toFixed(2)} (${Math.min(...values).toFixed(2)}–${Math.max(...values).toFixed(2)})`
console.log(
  `two workers as a multiple of one: capacity ${summary(ratios)}; throughput next to the load generator ${summary(throughputs)}`
)
