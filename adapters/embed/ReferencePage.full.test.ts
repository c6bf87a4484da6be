/** Checks the memory that slow clients of the reference page use. */
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { connect } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { expect, it } from "vitest"
import { open } from "./Stores.fixture.ts"

const BUNDLE = "/docs/swagger-ui-bundle.js"

const bundle = readFileSync(createRequire(import.meta.url).resolve("swagger-ui-dist/swagger-ui-bundle.js"))

it("keeps no copy of the bundle per client that does not read its responses", async () => {
  const store = await open({ docs: true })
  const { port } = await store.listen({ port: 0 })
  const count = 60
  const requests = `GET ${BUNDLE} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(20)
  globalThis.gc?.()
  const before = process.memoryUsage()
  const sockets = Array.from({ length: count }, () => connect(port, "127.0.0.1").pause())
  for (const socket of sockets) socket.on("error", () => undefined).write(requests)
  await sleep(1_000)
  const after = process.memoryUsage()
  for (const socket of sockets) socket.destroy()
  // One copy of the bundle for each client would be 104 MB.
  expect(after.external + after.arrayBuffers - before.external - before.arrayBuffers).toBeLessThan(
    (count * bundle.length) / 4
  )
  expect((await fetch(`http://127.0.0.1:${port}/livez`)).status).toBe(200)
})
