/** Tests `animal-store admin`, and the admin API of `serve`, in one process and with workers. */
import { request } from "node:http"
import { describe, expect, it } from "vitest"
import * as Databases from "../sql/Databases.fixture.ts"
import * as CommandLine from "./CommandLine.fixture.ts"

interface Announced {
  readonly admin?: { readonly url: string; readonly token?: string }
}

const adminOf = (greeting: string): NonNullable<Announced["admin"]> => {
  const { admin }: Announced = JSON.parse(greeting)
  if (admin === undefined) throw new Error("no admin port")
  return admin
}

const plans = (url: string, token: string) =>
  fetch(`${url}/admin/v1/plans`, { headers: { Authorization: `Bearer ${token}` } })

for (const kind of Databases.kinds) {
  Databases.describeOn(kind, "animal-store admin", () => {
    it("issues, lists and revokes tokens, which running servers obey", async () => {
      const environment = { ANIMAL_STORE_DATABASE: (await Databases.createForTest(kind)).address }
      const json = <A>(...args: ReadonlyArray<string>) => CommandLine.json<A>(["admin", ...args], environment)
      const issued = await json<{ id: string; key: string }>("token", "--name", "Ada", "--expires-in", "30d")
      expect(issued).toMatchObject({
        id: expect.stringMatching(/^adm_\w{11}$/),
        label: "Ada",
        expiresAt: expect.any(Number),
        key: expect.stringMatching(/^asa_\w{33}$/)
      })
      const server = await CommandLine.serveJson(["--admin-port", "0"], environment)
      const { token, url } = adminOf(server.greeting)
      expect(token).toBeUndefined()
      expect((await plans(url, issued.key)).status).toBe(200)
      const [listed] = await json<ReadonlyArray<object>>("list")
      expect(listed).toMatchObject({ id: issued.id, label: "Ada", revokedAt: null })
      expect(JSON.stringify(listed)).not.toContain(issued.key)
      const text = await CommandLine.succeed(["admin", "revoke", issued.id], environment)
      expect(text).toBe(`Revoked ${issued.id}. Running servers reject it immediately.\n`)
      expect((await plans(url, issued.key)).status).toBe(401)
      expect(await CommandLine.succeed(["admin", "list"], environment)).toMatch(/revoked at .*Z {2}Ada\n$/)
      const unknown = await CommandLine.run(["admin", "revoke", "adm_x"], environment)
      expect([unknown.code, unknown.stderr]).toEqual([
        1,
        "animal-store: the admin token adm_x does not exist\n"
      ])
      const secret = await CommandLine.run(["admin", "revoke", issued.key], environment)
      expect([secret.code, secret.stderr]).toEqual([
        1,
        "animal-store: id: must be an id (key_…, adm_…), not a secret\n"
      ])
    })
  })
}

describe("serve --admin-port", () => {
  it("prints a token for a database in memory as it prints the first key", async () => {
    const { greeting } = await CommandLine.serveJson(["--admin-port", "0"])
    const { token = "", url } = adminOf(greeting)
    expect((await plans(url, token)).status).toBe(200)
    const silent = await CommandLine.serve(["--admin-port", "0"])
    expect(silent.greeting).toMatch(/\n {2}Console: http:\S+\/\n {2}To sign in: .* admin token\n/)
    const terminal = await CommandLine.serve(["--admin-port", "0"], { NO_COLOR: "1" }, { isTerminal: true })
    expect(terminal.greeting).toMatch(
      /^animal-store listens on http:\S+\n\n {2}Free key, .*: ast_\w+\n {2}API reference: .*\n {2}Console: .*\n {2}Admin token, shown only now: asa_\w{33}\n\n/
    )
  })

  it("has the console at /, and only for names that are its own", async () => {
    const { greeting } = await CommandLine.serveJson(["--admin-port", "0"])
    const { url } = adminOf(greeting)
    const page = await fetch(`${url}/`)
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("admin/console.js")])
    expect((await fetch(`${url}/admin/console.js`)).headers.get("Content-Type")).toMatch("text/javascript")
    expect((await fetch(`${url}/metrics`)).status).toBe(200)
    const { hostname, port } = new URL(url)
    const rebound = await new Promise<number | undefined>((resolve, reject) =>
      request({ hostname, port, path: "/admin/v1/keys", headers: { Host: "evil.example" } }, (response) => {
        resolve(response.resume().statusCode)
      })
        .on("error", reject)
        .end()
    )
    expect(rebound).toBe(421)
  })

  it("has no admin API with --no-console", async () => {
    const { greeting, waitForLog } = await CommandLine.serveJson(["--admin-port", "0", "--no-console"])
    expect(JSON.parse(greeting).admin).toBeUndefined()
    const [, origin] = await waitForLog(/metrics on (http:\S+)\/metrics/)
    expect((await fetch(`${origin}/admin/v1/plans`)).status).toBe(404)
  })
})
