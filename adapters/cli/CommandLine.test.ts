import { expect, it } from "vitest"
import { launch } from "./CommandLine.fixture.ts"
import * as Ports from "./Ports.fixture.ts"

it.each([
  [["keys", "revoke", "key_x", "--database"], "interrupted"],
  [["admin", "revoke", "adm_x", "--database"], "interrupted"],
  [["export", "--database"], "interrupted"],
  [["import", "-", "--keep-ids", "--database"], "interrupted; run the same command again to resume"],
  [["copy", "--to", "sqlite:x.db", "--from"], "interrupted; run the same command again to resume"]
])("%j exits with 130 if it is interrupted while it waits for its database", async (args, message) => {
  const silent = await Ports.listen()
  const { ended, interrupt } = launch([...args, `postgres://u@127.0.0.1:${Ports.portOf(silent)}/x`])
  await new Promise((resolve) => silent.once("connection", resolve))
  interrupt()
  expect(await ended).toEqual({ code: 130, stdout: "", stderr: `animal-store: ${message}\n` })
})
