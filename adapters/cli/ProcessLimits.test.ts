import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, rmdirSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, expect, it, onTestFinished } from "vitest"
import { serve } from "./CommandLine.fixture.ts"
import * as ProcessLimits from "./ProcessLimits.ts"

const MB = 1024 * 1024

const unlimited: ProcessLimits.ProcessLimits = {
  openFiles: undefined,
  memoryBytes: undefined,
  heapBytes: 4_144 * MB
}

const needs: ProcessLimits.Needs = {
  processes: 1,
  connections: 10_000,
  databaseConnections: 16,
  bytesInFlight: undefined
}

describe("ProcessLimits.warnings", () => {
  it("is empty if there are no limits, or if they suffice", () => {
    expect(ProcessLimits.warnings(unlimited, needs)).toEqual([])
    const sufficient = { openFiles: 10_116, memoryBytes: 1_800 * MB, heapBytes: 1_800 * MB }
    expect(ProcessLimits.warnings(sufficient, { ...needs, processes: 4 })).toEqual([])
  })

  it("names a limit of open files that is smaller than the connections and the other files", () => {
    expect(ProcessLimits.warnings({ ...unlimited, openFiles: 10_115 }, needs)).toEqual([
      "the limit of open files is 10115, but a process may need 10116, of which 10000 are connections of clients; raise it with ulimit -n or LimitNOFILE="
    ])
  })

  it("names a memory limit that is too small for the processes", () => {
    const small = { ...unlimited, memoryBytes: 1_000 * MB, heapBytes: 500 * MB }
    expect(ProcessLimits.warnings(small, needs)).toEqual([])
    expect(ProcessLimits.warnings(small, { ...needs, processes: 4 })).toEqual([
      "the memory limit is 1000 MB, but each of 4 processes may use 450 MB under attack; set it to 2400 MB or more"
    ])
    expect(ProcessLimits.warnings({ ...small, memoryBytes: 449 * MB, heapBytes: 0 }, needs)).toEqual([
      "the memory limit is 449 MB, but the process may use 450 MB under attack; set it to 600 MB or more"
    ])
  })

  it("names a budget of bytes in flight that is larger than half of the heap", () => {
    const heap = { ...unlimited, heapBytes: 300 * MB }
    expect(ProcessLimits.warnings(heap, { ...needs, bytesInFlight: 150 * MB })).toEqual([])
    expect(ProcessLimits.warnings(heap, { ...needs, bytesInFlight: 150 * MB + 1 })).toEqual([
      "--max-bytes-in-flight is 151 MB, but Node lets the heap grow only to 300 MB; lower it to a quarter of the heap, or raise --max-old-space-size"
    ])
  })

  it("names a memory limit that is smaller than the heap", () => {
    expect(ProcessLimits.warnings({ ...unlimited, memoryBytes: 1_000 * MB }, needs)).toEqual([
      "the memory limit is 1000 MB, but Node lets the heap grow to 4144 MB; lower --max-old-space-size to 500"
    ])
  })
})

describe("serve", () => {
  it("prints a warning for each limit that is too small", async () => {
    const limits = { openFiles: 1_024, memoryBytes: 256 * MB, heapBytes: 128 * MB }
    const { stop } = await serve(["--max-bytes-in-flight", "100000000"], {}, { limits })
    const { stderr } = await stop()
    expect(stderr.replaceAll(/,.*/g, "").split("\n")).toEqual([
      "animal-store: the limit of open files is 1024",
      "animal-store: --max-bytes-in-flight is 96 MB",
      "animal-store: the memory limit is 256 MB",
      "animal-store: stopping; waiting for requests in flight",
      ""
    ])
  })
})

/** Returns the limits of a process that a shell starts after `command`. */
const limitsAfter = (command: string): ProcessLimits.ProcessLimits => {
  const module = fileURLToPath(new URL("./ProcessLimits.ts", import.meta.url))
  const program = `import("${module}").then(({ current }) => console.log(JSON.stringify(current())))`
  const script = `${command} && exec "$0" --eval '${program}'`
  return JSON.parse(spawnSync("sh", ["-c", script, process.execPath], { encoding: "utf8" }).stdout)
}

describe.skipIf(process.platform !== "linux")("ProcessLimits.current (needs /proc)", () => {
  it("returns the limit of open files that Node has after it raised the soft limit", () => {
    expect(limitsAfter("ulimit -S -n 512 && ulimit -H -n 1024").openFiles).toBe(1_024)
  })
})

const cgroups = "/sys/fs/cgroup/memory"
const hasCgroups = existsSync(`${cgroups}/memory.limit_in_bytes`) && process.getuid?.() === 0

describe.skipIf(!hasCgroups)("ProcessLimits.current in a memory cgroup (needs root and cgroup v1)", () => {
  it("returns the memory limit, and the smaller heap that Node then uses", () => {
    const cgroup = mkdtempSync(`${cgroups}/animal-store-`)
    onTestFinished(() => rmdirSync(cgroup))
    writeFileSync(`${cgroup}/memory.limit_in_bytes`, String(600 * MB))
    const { memoryBytes, heapBytes } = limitsAfter(`echo $$ >${cgroup}/cgroup.procs`)
    expect(memoryBytes).toBe(600 * MB)
    expect(heapBytes).toBeLessThan(400 * MB)
  })
})
