/** Reads the CPU time of a database server on this machine from the operating system. */
import { readdirSync, readFileSync } from "node:fs"

/** Microseconds of CPU time, by process id. */
export type Reading = ReadonlyMap<number, number>

/** Returns the fields of `/proc/PID/stat` after the name of the program, which may contain spaces and parentheses. */
const statOf = (pid: number): ReadonlyArray<string> | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8")
    return text.slice(text.lastIndexOf(")") + 2).split(" ")
  } catch {
    return undefined
  }
}

/** The indexes of the parent's id, the user time and the system time in these fields. */
const [PARENT, USER, SYSTEM] = [1, 11, 12] as const

/** The unit of CPU times in `/proc`, which is the same for every program on Linux. */
const TICKS_PER_SECOND = 100

/**
 * Returns the CPU time in microseconds, from `schedstat` if it is available (nanoseconds), otherwise from `stat`
 * (steps of 10 ms).
 */
const microsOf = (pid: number, stat: ReadonlyArray<string>): number => {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]) / 1_000
  } catch {
    return ((Number(stat[USER]) + Number(stat[SYSTEM])) * 1e6) / TICKS_PER_SECOND
  }
}

/** Returns the id of the parent process, or `undefined` if the process cannot be read. */
export const parentOf = (pid: number): number | undefined => {
  const stat = statOf(pid)
  return stat === undefined ? undefined : Number(stat[PARENT])
}

/** Returns the name of a process's program, or `undefined` if the process cannot be read. */
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

/** Returns the microseconds of CPU time between two readings; processes that exited in between are ignored. */
export const microsBetween = (before: Reading, after: Reading): number =>
  [...after].reduce((sum, [pid, micros]) => sum + Math.max(micros - (before.get(pid) ?? 0), 0), 0)
