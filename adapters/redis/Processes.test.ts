/** Tests that several processes share rate limits in Redis, and that a store connects over TLS. */
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import * as Effect from "effect/Effect"
import { expect, it, onTestFinished } from "vitest"
import * as TokenBucket from "../../core/limits/TokenBucket.ts"
import * as Nodes from "./Nodes.fixture.ts"
import * as RedisServers from "./RedisServers.fixture.ts"

const IN_FLIGHT = 16

/** Starts a process that counts requests. */
const startCounting = (args: ReadonlyArray<string>, env: NodeJS.ProcessEnv = {}) => {
  const main = fileURLToPath(new URL("./Counting.fixture.ts", import.meta.url))
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"]
  })
  let [output, stderr] = ["", ""]
  child.stdout.on("data", (data) => {
    output += data
  })
  child.stderr.on("data", (data) => {
    stderr += data
  })
  const exited = once(child, "close")
  onTestFinished(async () => {
    child.kill("SIGKILL")
    await exited
  })
  return {
    child,
    countAdmitted: () => output.split("\n").length - 1,
    stderrAtExit: async () => {
      await exited
      return stderr
    }
  }
}

for (const kind of RedisServers.kinds) {
  RedisServers.describeOn(kind, "RedisRateLimitStore", () => {
    it("admits exactly what the bucket of a key allows when three processes share it and one is killed", async () => {
      const server = await RedisServers.startForTest(kind)
      const caller = "key:shared"
      const readState = () => Nodes.readState({ send: (_, ...command) => server.send(...command) }, caller)
      const perMinute = 30_000
      await Nodes.inScope(
        Effect.gen(function* () {
          const store = yield* Nodes.open(server.address, { clock: "database" })
          const policy = { plan: { perMinute, perDay: 1_000_000 }, ban: undefined }
          // Uses half of the bucket, so that the bucket does not become full again.
          yield* Effect.forEach(
            Array.from({ length: perMinute / 2 }),
            () => Nodes.consume(store, caller, 0, policy),
            { concurrency: "unbounded", discard: true }
          )
        })
      )
      const before = await readState()
      const processes = [1, 2, 3].map(() =>
        startCounting([server.address, caller, String(perMinute), String(IN_FLIGHT)])
      )
      // The first one to count, because the bucket may be empty before another one starts.
      const findVictim = () => processes.find(({ countAdmitted }) => countAdmitted() > 20)
      await RedisServers.until(async () => findVictim() !== undefined)
      findVictim()?.child.kill("SIGKILL")
      for (const { stderrAtExit } of processes) expect(await stderrAtExit()).toBe("")
      const after = await readState()
      if (before === undefined || after === undefined) throw new Error("no request was counted")

      // The bucket was never full, so the tokens that left it equal the number of admitted requests.
      const used = after.used - before.used
      const refilled = (after.at - before.at) * perMinute
      expect(used * TokenBucket.COST).toBe(before.level + refilled - after.level)
      const reported = processes.reduce((sum, { countAdmitted }) => sum + countAdmitted(), 0)
      // The killed process may have sent requests whose replies it did not see.
      expect(used - reported).toBeGreaterThanOrEqual(0)
      expect(used - reported).toBeLessThanOrEqual(IN_FLIGHT)
      // The bucket was empty at the end.
      expect(after.level).toBeLessThan(TokenBucket.COST)
    })
  })
}

/** Creates a certificate authority and a certificate for this machine. */
const createCertificates = () => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), "animal-store-tls-"))
  onTestFinished(() => fs.rmSync(directory, { recursive: true, force: true }))
  const file = (name: string) => path.join(directory, name)
  fs.writeFileSync(file("san"), "subjectAltName=IP:127.0.0.1")
  const newKey = ["req", "-newkey", "rsa:2048", "-nodes", "-batch"]
  for (const args of [
    [
      ...newKey,
      "-x509",
      "-days",
      "2",
      "-subj",
      "/CN=test",
      "-keyout",
      file("ca.key"),
      "-out",
      file("ca.pem")
    ],
    [...newKey, "-subj", "/CN=redis", "-keyout", file("redis.key"), "-out", file("redis.csr")],
    [
      ...[
        "x509",
        "-req",
        "-days",
        "2",
        "-in",
        file("redis.csr"),
        "-CA",
        file("ca.pem"),
        "-CAkey",
        file("ca.key")
      ],
      ...["-CAcreateserial", "-extfile", file("san"), "-out", file("redis.pem")]
    ]
  ]) {
    const { status, stderr } = spawnSync("openssl", args)
    if (status !== 0) throw new Error(String(stderr))
  }
  return file
}

const hasOpenssl = spawnSync("openssl", ["version"], { stdio: "ignore" }).status === 0
if (!hasOpenssl) console.warn("the TLS test is skipped: openssl is not installed")

for (const kind of RedisServers.kinds) {
  RedisServers.describeOn(kind, "a store over TLS", () => {
    it.skipIf(!hasOpenssl)(
      "trusts an authority in NODE_EXTRA_CA_CERTS and rejects an unknown authority (skipped without openssl)",
      async () => {
        const file = createCertificates()
        const server = await RedisServers.startForTest(
          kind,
          [
            ...["--port", "0", "--tls-cert-file", file("redis.pem"), "--tls-key-file", file("redis.key")],
            ...["--tls-ca-cert-file", file("ca.pem"), "--tls-auth-clients", "no", "--requirepass", "s3cret"]
          ],
          { ca: fs.readFileSync(file("ca.pem")), url: (port) => `rediss://:s3cret@127.0.0.1:${port}` }
        )
        const args = [server.address, "key:tls", "60", "1"]
        const withAuthority = startCounting(args, { NODE_EXTRA_CA_CERTS: file("ca.pem") })
        expect(await withAuthority.stderrAtExit()).toBe("")
        expect(withAuthority.countAdmitted()).toBeGreaterThan(0)
        const withoutAuthority = startCounting(args, { NODE_EXTRA_CA_CERTS: "" })
        expect(await withoutAuthority.stderrAtExit()).toMatch(
          /^limits: cannot reach the Redis server at 127\.0\.0\.1:\d+: .*certificate/
        )
        expect(withoutAuthority.countAdmitted()).toBe(0)
      }
    )
  })
}
