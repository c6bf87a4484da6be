import { describe, expect, it } from "vitest"
import { Child, stopAll } from "./Child.ts"

const module = new URL("./Fails.fixture.ts", import.meta.url)
const acceptNothing = (_: unknown): _ is unknown => false

describe("Child", () => {
  it("reports the name, exit code and last error output of a child that has exited", async () => {
    const child = new Child({ name: "Peer", module })
    await expect(child.receive(acceptNothing)).rejects.toThrow(
      /^Peer exited unexpectedly \(code 1\)[\s\S]*no port is available/
    )
    await expect(child.execute("usage", acceptNothing)).rejects.toThrow(/^Peer exited unexpectedly/)
  })

  it("reports the name and the message of a child that sends an unexpected message", async () => {
    const bare = new Child({ name: "Bare", module: new URL("./http/peers/Bare.ts", import.meta.url) })
    await expect(bare.receive(acceptNothing)).rejects.toThrow(/^Bare sent an unexpected message: \{"port":/)
    await stopAll()
    await expect(bare.receive(acceptNothing)).rejects.toThrow(/^Bare exited unexpectedly \(SIGKILL\)/)
  })
})
