/** Tests what only a process of its own shows: exit codes, files and their modes, users, terminals and V8's flags. */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it, onTestFinished, vi } from "vitest"
import packageJson from "../../package.json" with { type: "json" }
import * as Databases from "../sql/Databases.fixture.ts"
import { json, succeed } from "./CommandLine.fixture.ts"
import * as Directory from "./Directory.fixture.ts"
import type { IssuedKey } from "./Greeting.fixture.ts"
import { environment, launch, main, run, start, stop } from "./Serve.fixture.ts"
import * as Terminal from "./Terminal.fixture.ts"
import { fill, makeLines } from "./Transfer.fixture.ts"

/** A module that prints, to standard error, each V8 flag that a program sets. */
const flagReporter = `data:text/javascript,${encodeURIComponent(
  `import v8 from "node:v8"
   import { syncBuiltinESMExports } from "node:module"
   const set = v8.setFlagsFromString
   v8.setFlagsFromString = (flags) => { process.stderr.write("V8 flags: " + flags + "\\n"); set(flags) }
   syncBuiltinESMExports()`
)}`

describe("the process of a command", () => {
  it("exits with the code of the command, and prints to the right stream", async () => {
    const succeeded = await run(["--version"])
    expect(succeeded).toEqual({
      ...{ code: 0, signal: null, stderr: "" },
      stdout: `animal-store v${packageJson.version}\n`
    })
    const failed = await run(["keys", "issue", "--plan", "Free"], { ANIMAL_STORE_PER_DAY: " " })
    expect(failed).toEqual({
      ...{ code: 1, signal: null, stdout: "" },
      stderr: expect.stringMatching(/^animal-store: ANIMAL_STORE_PER_DAY: must be .*; got " "\n$/)
    })
  })

  it("export ends quietly, as if SIGPIPE had ended it, if the reader of its output has gone", async () => {
    const database = await Databases.createForTest(Databases.sqlite)
    await fill(database, 5_000)
    const { output, status } = spawnSync(
      "bash",
      [
        "-c",
        '"$@" | head -1; exit $PIPESTATUS',
        "-",
        process.execPath,
        main,
        "export",
        "--database",
        database.address
      ],
      { env: environment, encoding: "utf8" }
    )
    expect([status, ...output.slice(1)]).toEqual([141, makeLines(1), ""])
  })

  it.each(["SIGINT", "SIGTERM"] as const)(
    "import stops at %s while it waits for a silent pipe",
    async (signal) => {
      const fifo = path.join(Directory.create(), "fifo")
      spawnSync("mkfifo", [fifo])
      const { child, ended } = launch(["import", fifo, "--dry-run"])
      onTestFinished(() => void child.kill("SIGKILL"))
      const openSilently = () => fs.openSync(fifo, fs.constants.O_WRONLY | fs.constants.O_NONBLOCK)
      // Fails until the command has opened the pipe.
      const writer = await vi.waitFor(openSilently, { timeout: 60_000 })
      onTestFinished(() => fs.closeSync(writer))
      child.kill(signal)
      expect(await ended).toMatchObject({
        code: 130,
        stderr: "animal-store: interrupted; nothing was stored\n"
      })
    }
  )

  it("import reads a pipe that the shell has opened, even if its writer has already ended", async () => {
    const lines = path.join(Directory.create(), "lines.ndjson")
    fs.writeFileSync(lines, makeLines(100))
    const script = '"$1" "$2" import <(sleep "$4"; cat "$3") --dry-run'
    for (const delay of ["0", "2"]) {
      const { stderr, stdout } = spawnSync(
        "bash",
        ["-c", script, "-", process.execPath, main, lines, delay],
        {
          env: environment,
          encoding: "utf8"
        }
      )
      expect([stdout, stderr]).toEqual([expect.stringMatching(/^Checked 100 animals /), ""])
    }
  })

  const canFail = fs.existsSync("/dev/full")
  const needs = canFail ? "" : " (skipped: /dev/full is missing)"

  it.skipIf(!canFail)(`fails if it cannot print a secret, but not if it cannot log${needs}`, async () => {
    const full = fs.openSync("/dev/full", "w")
    onTestFinished(() => fs.closeSync(full))
    const database = ["--database", (await Databases.createForTest(Databases.sqlite)).address]
    const issue = (stdio: "stdout" | "stderr") =>
      spawnSync(process.execPath, [main, "keys", "issue", "--plan", "Free", "--json", ...database], {
        stdio: ["ignore", stdio === "stdout" ? full : "pipe", stdio === "stderr" ? full : "pipe"],
        env: environment,
        encoding: "utf8"
      })
    const withoutOutput = issue("stdout")
    const [{ id } = { id: "" }] = await json<ReadonlyArray<IssuedKey>>(["keys", "list", ...database])
    expect([withoutOutput.status, withoutOutput.stderr]).toEqual([
      1,
      expect.stringMatching(
        new RegExp(
          `^animal-store: cannot write to standard output: ENOSPC.*; the new secret of ${id} is lost: .*\n$`
        )
      )
    ])
    const withoutLog = issue("stderr")
    expect([withoutLog.status, withoutLog.stdout]).toEqual([0, expect.stringMatching(/^\{.*\}\n$/)])
  })

  it("serves the default database in files that only the owner can read, even with umask 000", async () => {
    const cwd = Directory.create()
    const options = { cwd, umask: "000", nodeFlags: ["--import", flagReporter] }
    const server = await start(["--port", "0", "--first-key"], {}, options)
    onTestFinished(async () => void (await stop(server, "SIGKILL")))
    expect(server.greeting).toMatch(
      /^animal-store listens on (\S+)\n\n {2}Free key, shown only now: (ast_\w{33})\n {2}API reference: http:\/\/127\.0\.0\.1:[0-9]+\/docs\n\n {2}curl -i -H 'Authorization: Bearer \2' \1\/pets\n\n {2}Data is stored in sqlite:\.\/data\/animal-store\.db\n\n$/
    )
    const mode = (name: string): string => (fs.statSync(path.join(cwd, name)).mode & 0o777).toString(8)
    expect(mode("data")).toBe("700")
    const names = fs.readdirSync(path.join(cwd, "data"))
    expect(names).toEqual(["animal-store.db", "animal-store.db-shm", "animal-store.db-wal"])
    expect(names.map((name) => mode(`data/${name}`))).toEqual(["600", "600", "600"])
    const { code, stderr } = await stop(server)
    expect(code).toBe(0)
    expect(stderr).toContain(`message="directory created" directory=${fs.realpathSync(cwd)}/data\n`)
    // `Pretenuring.full.test.ts` shows the effect of this flag.
    expect(stderr).toContain("V8 flags: --no-allocation-site-pretenuring")
  })

  // Root can write everywhere; if the tests run as root, `serve` runs as another user.
  const uid = process.getuid?.() === 0 ? 65_534 : undefined
  const repository = fileURLToPath(new URL("../../package.json", import.meta.url))
  const readAttempt = spawnSync(process.execPath, ["-e", `fs.readFileSync(${JSON.stringify(repository)})`], {
    ...(uid === undefined ? {} : { uid, gid: uid })
  })
  const canRead = readAttempt.status === 0 ? "" : ` (skipped: user ${uid} cannot read the repository)`

  it.skipIf(readAttempt.status !== 0)(
    `reports in one line that a file or its directory is read-only${canRead}`,
    async () => {
      const directory = Directory.create()
      const [inside, file] = [path.join(directory, "new/x.db"), path.join(directory, "x.db")]
      await succeed(["keys", "issue", "--plan", "Free", "--database", `sqlite:${file}`])
      const expectDenied = async (fileMode: number, directoryMode: number, name: string): Promise<void> => {
        fs.chmodSync(file, fileMode)
        fs.chmodSync(directory, directoryMode)
        const args = ["serve", "--port", "0", "--database", `sqlite:${name}`]
        const result = await run(args, {}, uid === undefined ? {} : { uid })
        fs.chmodSync(directory, 0o755)
        const reason = `cannot use the SQLite file ${name}: no permission to write to it or its directory`
        expect(result).toEqual({
          ...{ code: 1, signal: null, stdout: "" },
          stderr: `animal-store: --database (ANIMAL_STORE_DATABASE): ${reason}\n`
        })
      }
      await expectDenied(0o444, 0o755, file)
      await expectDenied(0o666, 0o555, inside)
    }
  )

  it.skipIf(Terminal.missing !== undefined)(
    `knows its terminal${Terminal.missing === undefined ? "" : ` (skipped: ${Terminal.missing})`}`,
    async () => {
      const server = Terminal.launch(["serve", "--port", "0", "--database", "memory:"])
      await server.output.waitFor(/Free key, shown only now: .*ast_\w{33}/)
      const [, url] = await server.output.waitFor(/listens on .*(http:[\w./:]+)/)
      expect((await fetch(`${url}/pets`)).status).toBe(401)
      await server.output.waitFor(/401\S* GET .*\/v1\/pets .* ms .*127\.0\.0\.1.*missing_api_key/)
      server.child.kill("SIGTERM")

      const file = path.join(Directory.create(), "animals.ndjson")
      fs.writeFileSync(file, makeLines(10))
      const importing = Terminal.launch(["import", file, "--dry-run"])
      expect(await importing.output.ended).toContain("\r\u001b[2Kchecked 10 animals, 100%")
    }
  )
})
