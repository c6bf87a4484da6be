import { describe, expect, it } from "vitest"
import { run, serve, serveJson } from "./CommandLine.fixture.ts"
import * as ServeFlags from "./ServeFlags.ts"
import * as Variables from "./Variables.ts"

/** The variables that Kubernetes sets for a Service named `animal-store` on port 3000. */
const serviceLinks = {
  ANIMAL_STORE_SERVICE_HOST: "10.0.0.7",
  ANIMAL_STORE_SERVICE_PORT: "3000",
  ANIMAL_STORE_SERVICE_PORT_HTTP: "3000",
  ANIMAL_STORE_PORT: "tcp://10.0.0.7:3000",
  ANIMAL_STORE_PORT_3000_TCP: "tcp://10.0.0.7:3000",
  ANIMAL_STORE_PORT_3000_TCP_PROTO: "tcp",
  ANIMAL_STORE_PORT_3000_TCP_PORT: "3000",
  ANIMAL_STORE_PORT_3000_TCP_ADDR: "10.0.0.7"
}

describe("the variables that Kubernetes sets for a Service", () => {
  it("are ignored with a warning, in the format of the log", async () => {
    const linked = { ...serviceLinks, ANIMAL_STORE_ADMIN_PORT: "udp://[fd00::7]:53" }
    const { stop } = await serveJson(["--log-format", "json"], linked)
    const { stderr } = await stop()
    const [port, admin] = stderr.split("\n")
    const advice = "because Kubernetes sets it for a Service; set enableServiceLinks: false in the pod"
    expect(JSON.parse(port ?? "")).toMatchObject({
      level: "warn",
      message: `ANIMAL_STORE_PORT=tcp://10.0.0.7:3000 is ignored, ${advice}`
    })
    expect(JSON.parse(admin ?? "")).toMatchObject({
      level: "warn",
      message: `ANIMAL_STORE_ADMIN_PORT=udp://[fd00::7]:53 is ignored, ${advice}`
    })
  })

  it("leave the default of the port in force, and cause no warning unless they have the name of a setting", () => {
    expect(Variables.withoutServiceLinks(serviceLinks)).not.toHaveProperty("ANIMAL_STORE_PORT")
    expect(Variables.warnings(serviceLinks, ServeFlags.variables)).toHaveLength(1)
  })

  it("are invalid as flags, and in variables that are not ports", async () => {
    expect((await run(["serve", "--port", "tcp://10.0.0.7:3000"])).code).toBe(1)
    expect((await run(["serve"], { ANIMAL_STORE_DATABASE: "tcp://10.0.0.7:3000" })).code).toBe(1)
    expect((await run(["serve"], { ANIMAL_STORE_PORT: "http://10.0.0.7:3000" })).code).toBe(1)
  })
})

describe("a misspelled variable", () => {
  it("causes a warning that names the setting", async () => {
    const { stop } = await serve([], {
      ANIMAL_STORE_ACCES_LOG: "false",
      ANIMAL_STORE_VERSION: "1",
      PORT: "1"
    })
    expect((await stop()).stderr).toBe(
      "animal-store: ANIMAL_STORE_ACCES_LOG is not a setting; did you mean ANIMAL_STORE_ACCESS_LOG?\n" +
        "animal-store: stopping; waiting for requests in flight\n"
    )
  })

  it("is not a variable of another command", async () => {
    const commands = [
      ["keys", "issue"],
      ["keys", "rotate"],
      ["keys", "set"],
      ["export"],
      ["import"],
      ["copy"]
    ]
    for (const command of commands) {
      const { stdout } = await run([...command, "--help"])
      const names: ReadonlyArray<string> = stdout.match(/ANIMAL_STORE_[A-Z_]+/g) ?? []
      expect(names.length, command.join(" ")).toBeGreaterThan(0)
      const environment = Object.fromEntries(names.map((name) => [name, ""]))
      expect(Variables.warnings(environment, ServeFlags.variables)).toEqual([])
    }
  })
})

describe("the end of a line in a value", () => {
  it.each(["\n", "\r\n"])("is ignored at the end of a variable: %j", async (end) => {
    const { stop } = await serveJson([], {
      ANIMAL_STORE_HOST: `127.0.0.1${end}`,
      ANIMAL_STORE_JSON: `true${end}`
    })
    expect((await stop()).code).toBe(0)
  })

  it.each([
    [
      ["serve"],
      { ANIMAL_STORE_DATABASE: "postgres://user:secret@127.0.0.1/animals\r" },
      "ANIMAL_STORE_DATABASE"
    ],
    [["serve", "--limits", "redis://127.0.0.1\r\n"], {}, "--limits"],
    [["serve"], { ANIMAL_STORE_PORT: "3000\r" }, "ANIMAL_STORE_PORT"],
    [["serve"], { ANIMAL_STORE_ACCESS_LOG: "false\r" }, "ANIMAL_STORE_ACCESS_LOG"],
    [["keys", "list"], { ANIMAL_STORE_DATABASE: "sqlite:animals.db\r" }, "ANIMAL_STORE_DATABASE"]
  ])("is named elsewhere: %j %j", async (args, environment, source) => {
    const { code, stderr } = await run(args, environment)
    expect(code).toBe(1)
    expect(stderr).toContain(
      `${source}: must not contain a carriage return; the file that it comes from probably has Windows line breaks (CRLF)`
    )
    expect(stderr).not.toMatch(/secret|\r/)
  })
})
