/** The CPU time of a database server on this machine, from the operating system. */
import { readdirSync, readFileSync } from "node:fs"

/** Microseconds of CPU by process. */
export type Reading = ReadonlyMap<number, number>

/** The fields of `/proc/PID/stat` after the name of the program, which may contain blanks and brackets. */
const statOf = (pid: number): ReadonlyArray<string> | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8")
    return text.slice(text.lastIndexOf(")") + 2).split(" ")
  } catch {
    return undefined
  }
}

const PARENT = 1
const USER = 11
const SYSTEM = 12
/** Linux counts in these units for every program. */
const TICKS_PER_SECOND = 100

/** Exact to the nanosecond where the kernel counts the time of the scheduler, else to 10 ms. */
const microsOf = (pid: number, stat: ReadonlyArray<string>): number => {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]) / 1_000
  } catch {
    return ((Number(stat[USER]) + Number(stat[SYSTEM])) * 1e6) / TICKS_PER_SECOND
  }
}

/** The process that started another one; `undefined` where processes cannot be seen. */
export const parentOf = (pid: number): number | undefined => {
  const stat = statOf(pid)
  return stat === undefined ? undefined : Number(stat[PARENT])
}

/** The name of a process's program, if there is such a process on this machine. */
export const programOf = (pid: number): string | undefined => {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim()
  } catch {
    return undefined
  }
}

/** Reads the CPU time of a process and its children. */
export const read = (root: number): Reading => {
  const reading = new Map<number, number>()
  for (const name of readdirSync("/proc")) {
    const pid = Number(name)
    const stat = Number.isInteger(pid) ? statOf(pid) : undefined
    if (stat !== undefined && (pid === root || Number(stat[PARENT]) === root))
      reading.set(pid, microsOf(pid, stat))
  }
  return reading
}

/** Microseconds between two readings; processes that ended in between are left out. */
export const between = (before: Reading, after: Reading): number =>
  [...after].reduce((sum, [pid, micros]) => sum + Math.max(micros - (before.get(pid) ?? 0), 0), 0)
