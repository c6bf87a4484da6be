/** Scripts of failures that the suite finds, run against the faulty server and against a correct one. */
import { execFile, spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import { afterAll, describe, expect, it } from "vitest"
import { checks } from "../../checks/Checks.ts"
import * as Run from "../../engine/Run.ts"
import type { Fault } from "../../gallery/Fault.ts"
import { faults } from "../../gallery/Faults.ts"
import * as PlainServer from "../../gallery/plain/PlainServer.ts"
import type { Header, Transport } from "../../http/Wire.ts"
import * as HttpSubject from "../HttpSubject.ts"

const hasTools = ["curl", "awk", "mktemp"].every((tool) => spawnSync(tool, ["--version"]).error === undefined)

const endings: Array<() => void> = []
afterAll(() => {
  for (const end of endings) end()
})

const folder = mkdtempSync(join(tmpdir(), "animal-store-script-"))
endings.push(() => rmSync(folder, { recursive: true }))

const keys = {
  main: "main-0123456789abcdef",
  tiny: { secret: "tiny-0123456789abcdef", perMinute: 5, perDay: 40 },
  victim: { secret: "victim-0123456789abcdef", perMinute: 3, perDay: 10_000 }
}

/** A server with a fault or without one, over a socket and with a clock. */
const start = async (fault: Fault | undefined) => {
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
  const spoil = where?.at === "http" ? where.transport : undefined
  const transport: Transport =
    spoil === undefined ? correct : spoil(correct, { now: () => now, keys: secrets })
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
      const given = await Effect.runPromise(transport(sent))
      response.sendDate = false
      response.writeHead(given.status, given.headers.flat()).end(given.body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  endings.push(() => server.close())
  const { port } = server.address() as AddressInfo // the address of a TCP server is neither a pipe name nor null
  const clock = { now: Effect.sync(() => now), advance: (ms: number) => Effect.sync(() => advance(ms)) }
  return { origin: `http://127.0.0.1:${port}`, transport, clock }
}

type Server = Awaited<ReturnType<typeof start>>

/** The exit code of a script. */
const ran = (script: string, { origin }: Server) =>
  new Promise<string>((resolve) => {
    const path = join(folder, "case.sh")
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
        `${error === null ? 0 : error.code} ${stderr}${/^(?:NOT )?SHOWN|^CANNOT TELL/m.exec(stdout)?.[0]}`
      )
    )
  })

/** The script of a failure that the suite finds. */
const scriptOf = async (fault: Fault, { clock, origin, transport }: Server): Promise<string> => {
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
  const script = await Effect.runPromise(program)
  if (script === undefined) throw new Error(`${fault.id} was not found`)
  return script
}

const isOfTransport = ({ where }: Fault): boolean =>
  where.at === "http" &&
  where.transport !== undefined &&
  Object.keys(where).every((name) => name === "at" || name === "transport")

/** One fault of so many is tried. */
const EVERY = 3

/**
 * Faults that scripts do not show, or show of a correct server too: their cases need animals that an earlier case created, ids
 * made from others, or what concurrent requests see.
 */
const beyondScripts: ReadonlyArray<string> = [
  "list.default-100-of-pending",
  "list.default-100",
  "list.zero-means-all",
  "list.unknown-status-lists-all",
  "list.status-injected",
  "list.status-prefix",
  "list.status-wildcards",
  "list.single-unwrapped",
  "catalogue.constant-id",
  "catalogue.name-cut-in-filter",
  "create.client-id",
  "get.leading-digits",
  "get.id-wraps",
  "limits.retry-after-past-date",
  "limits.retry-after-epoch",
  "limits.headers-of-latest",
  "concurrent.one-writer-http",
  "cell.limit-last",
  "cell.head-costs-two"
]

const specIds = new Set(checks.filter(({ level }) => level === "spec").map(({ id }) => id))

/** Some faults that need nothing but a transport and that a check of level spec finds, which this server passes. */
const sample = faults
  .filter((fault) => isOfTransport(fault) && specIds.has(fault.killedBy))
  .filter(({ id }, index) => index % EVERY === 0 && !beyondScripts.includes(id))

describe.skipIf(!hasTools)(
  `a script of a failure${hasTools ? "" : " (skipped: curl, awk or mktemp is not installed)"}`,
  () => {
    const shown: Array<string> = []

    it.each(sample)(
      "ends with 1 for the faulty server and 0 for a correct one: $id",
      async (fault) => {
        const faulty = await start(fault)
        const script = await scriptOf(fault, faulty).catch(() => undefined)
        // This correct server differs from ours, so that not each fault of ours is one of it.
        if (script === undefined) return
        // Parts of a key are not written into scripts.
        if (script.includes("INSERTED=no")) {
          expect(await ran(script, faulty)).toMatch(/^2 insert the omitted parts of a key first/)
          return
        }
        expect(await ran(script, faulty)).toBe("1 SHOWN")
        // Also on a server that has just been started, and again.
        const fresh = await start(fault)
        expect(await ran(script, fresh)).toBe("1 SHOWN")
        expect(await ran(script, await start(undefined))).toBe("0 NOT SHOWN")
        shown.push(fault.id)
      },
      120_000
    )

    it("was tried with faults of many kinds", () => {
      expect(shown.length).toBeGreaterThanOrEqual(10)
    })
  }
)
