/** Tests `serve --plan` and the keys of such plans. */
import { expect, it } from "vitest"
import * as Databases from "../sql/Databases.fixture.ts"
import * as CommandLine from "./CommandLine.fixture.ts"
import type { IssuedKey } from "./Greeting.fixture.ts"

it("serve --plan defines the limits of the keys that have the plan", { timeout: 120_000 }, async () => {
  const { address } = await Databases.createForTest(Databases.sqlite)
  const environment = { ANIMAL_STORE_DATABASE: address }
  const keys = <A>(...args: ReadonlyArray<string>) => CommandLine.json<A>(["keys", ...args], environment)
  const { id, key } = await keys<IssuedKey>("issue", "--plan", "Starter=120/5000")
  expect(await keys("show", id)).toMatchObject({ plan: "Starter", limits: { perMinute: 120, perDay: 5_000 } })

  const server = await CommandLine.serveJson(
    ["--plan", "Starter=150/6000", "--plan", "Team=9/9"],
    environment
  )
  expect((await server.get("/pets", key)).headers.get("X-RateLimit-Limit")).toBe("150")
  expect(await keys("set", id, "--plan", "pro")).toMatchObject({ plan: "Pro" })
  expect(await keys("set", id, "--plan", "Team=9/9")).toMatchObject({ plan: "Team" })
})
