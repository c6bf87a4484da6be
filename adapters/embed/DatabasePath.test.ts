/** Checks which SQLite paths a store opens, and which reason it gives for rejecting all others. */

import { spawnSync } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs"
import { createServer } from "node:net"
import * as os from "node:os"
import * as path from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import { openAnimalStore } from "./index.ts"

const createDirectory = (): string => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), "animal-store-"))
  onTestFinished(() => fs.rmSync(directory, { recursive: true }))
  return directory
}

const reasonFor = (filename: string): Promise<unknown> =>
  openAnimalStore({ database: `sqlite:${filename}` }).then(
    async (store) => {
      await store.close()
      return "it was opened"
    },
    (error: unknown) => (error instanceof Error ? error.message : error)
  )

const messageFor = (filename: string, reason: string): string =>
  `database: cannot use the SQLite file ${filename}: ${reason}`

const paths: ReadonlyArray<readonly [title: string, make: (directory: string) => string, reason: string]> = [
  ["a directory", (directory) => directory, "it is a directory"],
  [
    "a path below a file",
    (directory) => file(directory, "plain/x.db"),
    "a part of its path is not a directory"
  ],
  [
    "a path two levels below a file",
    (directory) => file(directory, "plain/x/y.db"),
    "a part of its path is not a directory"
  ],
  [
    "a file name that is too long",
    (directory) => path.join(directory, "a".repeat(256)),
    "its path is too long"
  ],
  [
    "a path that is too long",
    (directory) => path.join(directory, "a/".repeat(300), "x"),
    "its path is too long"
  ],
  [
    "a loop of links",
    (directory) => link(directory, "loop", "loop"),
    "its path contains a symbolic link loop"
  ],
  [
    "a path below a loop of links",
    (directory) => `${link(directory, "loop", "loop")}/x`,
    "its path contains a symbolic link loop"
  ],
  [
    "a dangling link",
    (directory) => link(directory, "link", "none/x"),
    "no file can be created at this path"
  ],
  ["a file that is not a database", (directory) => file(directory, "plain"), "it is not a SQLite database"]
]

const file = (directory: string, target: string): string => {
  fs.writeFileSync(path.join(directory, "plain"), "no database ".repeat(400))
  return path.join(directory, target)
}

const link = (directory: string, name: string, target: string): string => {
  fs.symlinkSync(target, path.join(directory, name))
  return path.join(directory, name)
}

describe("openAnimalStore with a SQLite path", () => {
  it.each(paths)("rejects %s and reports the reason", async (_, make, reason) => {
    const filename = make(createDirectory())
    expect(await reasonFor(filename)).toBe(messageFor(filename, reason))
  })

  const devices = ["/dev/null", "/dev/full", "/dev/zero"].filter((device) => fs.existsSync(device))

  it.skipIf(devices.length === 0).each(devices.length === 0 ? ["a device (skipped: none exists)"] : devices)(
    "rejects %s because it is not a regular file",
    async (device) => {
      expect(await reasonFor(device)).toBe(messageFor(device, "it is not a regular file"))
    }
  )

  it.skipIf(process.platform === "win32")("rejects the path of a Unix socket", async () => {
    const filename = path.join(createDirectory(), "socket")
    const server = createServer().listen(filename)
    await once(server, "listening")
    expect(await reasonFor(filename)).toBe(messageFor(filename, "it is not a regular file"))
    server.close()
  })

  const hasFifos = spawnSync("mkfifo", ["--version"]).error === undefined

  it.skipIf(!hasFifos)("rejects a FIFO without waiting for a writer", async () => {
    const filename = path.join(createDirectory(), "fifo")
    expect(spawnSync("mkfifo", [filename]).status).toBe(0)
    expect(await reasonFor(filename)).toBe(messageFor(filename, "it is not a regular file"))
  })

  it("creates missing directories that only their owner can access", async () => {
    const directory = createDirectory()
    const filename = path.join(directory, "a/b/c/x.db")
    expect(await reasonFor(filename)).toBe("it was opened")
    for (const created of ["a", "a/b", "a/b/c"]) {
      expect(fs.statSync(path.join(directory, created)).mode & 0o777, created).toBe(0o700)
    }
  })

  it("opens several stores that create the same missing directories at the same time", async () => {
    const filename = path.join(createDirectory(), "a/b/x.db")
    const opened = await Promise.all(Array.from({ length: 4 }, () => reasonFor(filename)))
    expect(opened).toEqual(opened.map(() => "it was opened"))
  })
})

it("openAnimalStore rejects with the reason of its signal when the signal is aborted", async () => {
  const silent = createServer(() => undefined).listen(0, "127.0.0.1")
  onTestFinished(() => void silent.close())
  await once(silent, "listening")
  const address = silent.address()
  const port = typeof address === "object" ? address?.port : undefined
  const database = `postgres://u@127.0.0.1:${port}/x`
  const opening = new AbortController()
  const store = openAnimalStore({ database, databaseTimeoutMs: 60_000, signal: opening.signal })
  await once(silent, "connection")
  const reason = new Error("the program no longer needs the store")
  opening.abort(reason)
  await expect(store).rejects.toBe(reason)
  await expect(openAnimalStore({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
})
