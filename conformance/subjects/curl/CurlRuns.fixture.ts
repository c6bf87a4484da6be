/** Starts servers with or without a fault, and runs scripts against them. */
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import * as Run from "../../engine/Run.ts"
import type { Header, Transport } from "../../http/Wire.ts"
import type { Fault } from "../../selftest/Fault.ts"
import * as PlainServer from "../../selftest/plain/PlainServer.ts"
import * as HttpSubject from "../HttpSubject.ts"

/** The keys of the servers. */
export const keys = {
  main: "main-0123456789abcdef",
  tiny: { secret: "tiny-0123456789abcdef", perMinute: 5, perDay: 40 },
  victim: { secret: "victim-0123456789abcdef", perMinute: 3, perDay: 10_000 }
}

/** Starts a server with or without a fault, over a socket and with a clock; also returns a function that stops it. */
const startServer = async (fault: Fault | undefined) => {
  let now = Date.UTC(2027, 0, 1, 9)
  const correct = PlainServer.make({
    keys: [{ secret: keys.main, perMinute: 100_000, perDay: 10_000_000 }, keys.tiny, keys.victim],
    now: () => now,
    choices: {}
  })
  const secrets = {
    main: keys.main,
    tiny: keys.tiny.secret,
    victim: keys.victim.secret,
    revoked: "none-0123456789"
  }
  const where = fault?.where
  const inject = where?.at === "http" ? where.transport : undefined
  const transport: Transport =
    inject === undefined ? correct : inject(correct, { now: () => now, keys: secrets })
  const advance = (ms: number) => {
    now += ms
    return now
  }
  const server = http.createServer((request, response) => {
    const parts: Array<Buffer> = []
    request.on("data", (part: Buffer) => parts.push(part))
    request.on("end", async () => {
      const body = Buffer.concat(parts)
      if (request.url?.startsWith("/clock")) {
        const ms = request.method === "POST" ? Number(/\d+/.exec(body.toString())?.[0]) : 0
        response.end(JSON.stringify({ now: advance(ms) }))
        return
      }
      const headers = request.rawHeaders.flatMap(
        (name, index): ReadonlyArray<Header> =>
          index % 2 === 0 ? [[name, request.rawHeaders[index + 1] ?? ""]] : []
      )
      const target = request.url ?? "/"
      const sent = { method: request.method ?? "GET", target, headers, body: new Uint8Array(body) }
      const { body: content, headers: fields, status } = await Effect.runPromise(transport(sent))
      response.sendDate = false
      response.writeHead(status, fields.flat()).end(content)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo // the address of a TCP server is neither a pipe name nor null
  const clock = { now: Effect.sync(() => now), advance: (ms: number) => Effect.sync(() => advance(ms)) }
  return { origin: `http://127.0.0.1:${port}`, transport, clock, stop: () => server.close() }
}

export type Server = Omit<Awaited<ReturnType<typeof startServer>>, "stop">

/** Saves a script in a directory and runs it; returns its exit code, its error output and its verdict as one text. */
const runIn = (directory: string, script: string, { origin }: Pick<Server, "origin">) =>
  new Promise<string>((resolve) => {
    const path = join(directory, "case.sh")
    writeFileSync(path, script)
    const env = {
      PATH: process.env.PATH ?? "",
      ANIMAL_KEY: keys.main,
      ANIMAL_TINY_KEY: keys.tiny.secret,
      ANIMAL_VICTIM_KEY: keys.victim.secret,
      ANIMAL_CLOCK: `${origin}/clock`
    }
    execFile("sh", [path, `${origin}/v1`], { env, timeout: 60_000 }, (error, stdout, stderr) =>
      resolve(
        `${error === null ? 0 : error.code} ${stderr}${/^(?:NOT )?SHOWN|^CANNOT TELL/m.exec(stdout)?.[0] ?? ""}`.trim()
      )
    )
  })

/**
 * Creates a directory for scripts. Returns functions that start servers and run scripts, and `close`, which stops the
 * servers and deletes the directory. Each test file opens its own, because files may share modules.
 */
export const open = () => {
  const directory = mkdtempSync(join(tmpdir(), "animal-store-script-"))
  const cleanups = [() => rmSync(directory, { recursive: true })]
  return {
    start: async (fault: Fault | undefined): Promise<Server> => {
      const { stop, ...server } = await startServer(fault)
      cleanups.push(() => void stop())
      return server
    },
    runScript: (script: string, server: Pick<Server, "origin">) => runIn(directory, script, server),
    close: () => {
      for (const cleanUp of cleanups) cleanUp()
    }
  }
}

/** Runs the suite on a faulty server, and returns the script of the failure; `undefined` if it finds none. */
export const scriptOf = async (
  fault: Fault,
  { clock, origin, transport }: Server
): Promise<string | undefined> => {
  const program = Effect.gen(function* () {
    const subject = yield* HttpSubject.make({
      name: fault.id,
      transport,
      basePath: "/v1",
      baseUrl: `${origin}/v1`,
      keys,
      clock
    })
    const report = yield* Run.run(subject, { level: "spec", seed: 1, only: [fault.killedBy] })
    return report.checks.find(({ id }) => id === fault.killedBy)?.counterexample?.script
  })
  return await Effect.runPromise(program)
}
