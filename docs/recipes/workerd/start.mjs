import { spawn } from "node:child_process"
import { setTimeout as sleep } from "node:timers/promises"
import workerd from "workerd"

const address = `127.0.0.1:${process.env.PORT ?? 3000}`
const server = spawn(workerd.default, ["serve", "config.capnp", "--socket-addr", `http=${address}`], {
  stdio: "inherit",
  env: { ...process.env, ORIGIN: `http://${address}` }
})
server.once("exit", (code) => process.exit(code ?? 1))
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => server.kill(signal))

// The first request creates the store, which then prints its key.
while (!(await fetch(`http://${address}/readyz`).catch(() => undefined))?.ok) await sleep(50)
