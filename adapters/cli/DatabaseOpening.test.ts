/** Tests how `animal-store` exits when its database cannot be opened, or does not respond. */
import { once } from "node:events"
import { type AddressInfo, createServer } from "node:net"
import { expect, it, onTestFinished } from "vitest"
import { launch, run } from "./Serve.fixture.ts"

it.skipIf(process.platform !== "linux").each(["/proc/x/y", "/proc/x", "/sys/x/y"])(
  "serve prints one line and exits with code 1 if it cannot use sqlite:%s",
  async (filename) => {
    const { code, stderr, stdout } = await run(["serve", "--port", "0", "--database", `sqlite:${filename}`])
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" })
    expect(stderr).toMatch(
      new RegExp(
        `^animal-store: --database \\(ANIMAL_STORE_DATABASE\\): cannot use the SQLite file ${filename}: [^\\n]+\\n$`
      )
    )
  }
)

it.each(["SIGTERM", "SIGINT"] as const)(
  "%s stops a server that is waiting for its database",
  async (signal) => {
    const silent = createServer(() => undefined).listen(0, "127.0.0.1")
    onTestFinished(() => void silent.close())
    await once(silent, "listening")
    const { port } = silent.address() as AddressInfo // the address of a TCP server is neither a pipe name nor null
    const database = `postgres://u@127.0.0.1:${port}/x`
    const { child, ended } = launch(["serve", "--database", database, "--database-timeout", "60s"], {}, {})
    await once(silent, "connection")
    child.kill(signal)
    expect(await ended).toEqual({ code: 0, signal: null, stdout: "", stderr: "" })
  }
)
