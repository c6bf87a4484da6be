/** Compares the limits of the operating system with what a server may need. */
import { readFileSync } from "node:fs"
import { getHeapStatistics } from "node:v8"

export interface ProcessLimits {
  /** Maximum number of open files and connections of a process; `undefined` if it is unknown. */
  readonly openFiles: number | undefined
  /** Maximum memory in bytes of all processes together, as in a container; `undefined` if there is no limit. */
  readonly memoryBytes: number | undefined
  /** Size in bytes up to which V8 lets the heap of a process grow. */
  readonly heapBytes: number
}

/** What a server may need. */
export interface Needs {
  readonly processes: number
  /** Maximum connections of clients of each process. */
  readonly connections: number
  /** Maximum connections to the database of each process. */
  readonly databaseConnections: number
  /** Bytes of responses and bodies in each process; `undefined` for the default, which follows the heap. */
  readonly bytesInFlight: number | undefined
}

/** Open files of a process other than connections: those of the database, of Node and of its libraries. */
const OTHER_FILES = 100

const MB = 1024 * 1024

/** Memory that a process uses at most under the attacks in docs/security.md, and the memory to plan for. */
const ATTACKED_MB = 450
const PLANNED_MB = 600

/** Returns the limits of this process. Only Linux reports the limit of open files. */
export const current = (): ProcessLimits => {
  const memoryBytes = process.constrainedMemory()
  return {
    openFiles: openFiles(),
    // Node returns 0 or 2⁶⁴ if there is no limit.
    memoryBytes: memoryBytes > 0 && memoryBytes < Number.MAX_SAFE_INTEGER ? memoryBytes : undefined,
    heapBytes: getHeapStatistics().heap_size_limit
  }
}

const openFiles = (): number | undefined => {
  try {
    // The soft limit, which Node has raised to the hard limit.
    const [, limit] = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? []
    return limit === undefined ? undefined : Number(limit)
  } catch {
    return undefined
  }
}

/** Returns a sentence for each limit that is too small. */
export const warnings = (
  { heapBytes, memoryBytes, openFiles }: ProcessLimits,
  { bytesInFlight, connections, databaseConnections, processes }: Needs
): ReadonlyArray<string> => {
  const found: Array<string> = []
  const files = connections + databaseConnections + OTHER_FILES
  if (openFiles !== undefined && openFiles < files) {
    found.push(
      `the limit of open files is ${openFiles}, but a process may need ${files}, of which ${connections} are connections of clients; raise it with ulimit -n or LimitNOFILE=`
    )
  }
  if (bytesInFlight !== undefined && bytesInFlight > heapBytes / 2) {
    found.push(
      `--max-bytes-in-flight is ${Math.ceil(bytesInFlight / MB)} MB, but Node lets the heap grow only to ${Math.floor(heapBytes / MB)} MB; lower it to a quarter of the heap, or raise --max-old-space-size`
    )
  }
  if (memoryBytes === undefined) return found
  const memoryMb = Math.floor(memoryBytes / MB)
  if (memoryMb < processes * ATTACKED_MB) {
    const users = processes === 1 ? "the process" : `each of ${processes} processes`
    found.push(
      `the memory limit is ${memoryMb} MB, but ${users} may use ${ATTACKED_MB} MB under attack; set it to ${processes * PLANNED_MB} MB or more`
    )
  }
  if (heapBytes > memoryBytes) {
    found.push(
      `the memory limit is ${memoryMb} MB, but Node lets the heap grow to ${Math.floor(heapBytes / MB)} MB; lower --max-old-space-size to ${Math.floor(memoryMb / processes / 2)}`
    )
  }
  return found
}
