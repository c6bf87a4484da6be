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

it("serve --issue-key issues a key of a plan that --plan defines", { timeout: 120_000 }, async () => {
  const server = await CommandLine.serveJson(
    [...["--plan", "Starter=150/6000", "--issue-key", "starter"], "--database", "memory:"],
    {}
  )
  expect(server.keys).toMatchObject([{ plan: "Starter" }])
  expect((await server.get("/pets", server.keys[0]?.key)).headers.get("X-RateLimit-Limit")).toBe("150")
})

it("keys commands know the plans in the variable of serve --plan, which changes no key", async () => {
  const { address } = await Databases.createForTest(Databases.sqlite)
  const database = { ANIMAL_STORE_DATABASE: address }
  const keys = (args: ReadonlyArray<string>, plans?: string) =>
    CommandLine.succeed(
      ["keys", ...args],
      plans === undefined ? database : { ...database, ANIMAL_STORE_PLAN: plans }
    )
  const issued = await keys(["issue", "--plan", "TEAM", "--json"], "Starter=120/5000 Team=9/90")
  const { id, limits, plan } = JSON.parse(issued)
  expect([plan, limits]).toEqual(["Team", { perMinute: 9, perDay: 90 }])

  const note =
    "Servers define the limits of Team; the limits shown are those with which a key was issued or set."
  for (const args of [["list"], ["show", id]]) {
    expect(await keys(args)).toContain(note)
    const known = await keys(args, "Team=7/70")
    expect(known).not.toContain(note)
    expect(known).toMatch(/Team(: | +)7 /)
  }
  expect(await keys(["set", id, "--label", "shop"], "Starter=120/5000")).toContain("on the Team plan with 9 ")
  expect(await keys(["set", id, "--label", "till"], "Team=7/70")).toContain("on the Team plan with 7 ")
  expect((await CommandLine.run(["keys", "issue", "--plan", "Team"], database)).stderr).toBe(
    'animal-store: --plan: must be one of Free, Pro, Business, Enterprise; got "Team"\n'
  )
})
