/** Checks the systemd units with `systemd-analyze`. */
import * as fs from "node:fs"
import * as path from "node:path"
import { expect, it } from "vitest"
import { commandsOf, createDirectory, describeWith, read, shell } from "../Pages.fixture.ts"

const units = ["animal-store.service", "animal-store-backup.service", "animal-store-backup.timer"]

/** Copies the units to a directory, with the path of this machine's Node. */
const copyUnits = (): string => {
  const directory = createDirectory()
  fs.mkdirSync(path.join(directory, "docs/deploying"), { recursive: true })
  for (const unit of units) {
    const content = read(`docs/deploying/${unit}`).replaceAll("/usr/bin/node", process.execPath)
    fs.writeFileSync(path.join(directory, "docs/deploying", unit), content)
  }
  return directory
}

describeWith(["systemd-analyze"], "the systemd units", () => {
  const [verify = "", security = ""] = commandsOf("systemd")

  it("are accepted by systemd-analyze verify", () => {
    const { status, stderr, stdout } = shell(verify, copyUnits())
    // The command also prints problems of other units on this machine.
    expect(`${stdout}${stderr}`).not.toMatch(/animal-store|Unknown (?:key|section|lvalue)/)
    expect(status).toBe(0)
  })

  it.each(["animal-store.service", "animal-store-backup.service"])("pass the security check: %s", (unit) => {
    const command = security.replace("animal-store.service", unit)
    const { status, stdout } = shell(command, copyUnits())
    expect(stdout).toMatch(/Overall exposure level/)
    expect(status, stdout).toBe(0)
  })

  it("are rejected by these commands if they lack protections or are invalid", () => {
    const directory = copyUnits()
    const file = path.join(directory, "docs/deploying/animal-store.service")
    const weak = fs
      .readFileSync(file, "utf8")
      .replaceAll(/^(?:Protect|Private|Restrict|System|Capab).*$/gm, "")
    fs.writeFileSync(file, weak)
    expect(shell(security, directory).status).not.toBe(0)
    fs.writeFileSync(file, weak.replace("ExecStart=/", "ExecStart="))
    expect(shell(verify, directory).status).not.toBe(0)
  })
})
