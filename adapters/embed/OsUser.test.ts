import { syncBuiltinESMExports } from "node:module"
import os from "node:os"
import { describe, expect, it, onTestFinished, vi } from "vitest"
import * as OsUser from "./OsUser.ts"

/** Makes `os.userInfo` throw until the end of the test, as it does for a user id without a name. */
const hideName = (): void => {
  const spy = vi.spyOn(os, "userInfo").mockImplementation(() => {
    throw new Error("uv_os_get_passwd returned ENOENT")
  })
  syncBuiltinESMExports()
  onTestFinished(() => {
    spy.mockRestore()
    syncBuiltinESMExports()
  })
}

describe("OsUser.name", () => {
  it("returns the name that the operating system has for the user", () => {
    expect(OsUser.name()).toBe(os.userInfo().username)
  })

  it.skipIf(process.getuid === undefined)("returns the user id if the user has no name", () => {
    hideName()
    expect(OsUser.name()).toBe(`uid ${process.getuid?.()}`)
  })
})
