/**
 * Writes the log lines of all workers to one stream. Each worker has its own pipe, so that lines never mix, even if the
 * reader of the log is slow. While the stream is full, the pipes are not read. The workers then discard lines, and
 * report how many.
 */
import { Buffer } from "node:buffer"
import type { Readable, Writable } from "node:stream"
import * as LogSink from "../../log/LogSink.ts"

/** Length in bytes above which an unfinished line is written in parts, each as a line of its own. */
const MAX_LINE_BYTES = 1_048_576

const LINE_FEED = 10

/** Creates a function that forwards the lines of a worker. `lost` formats the report of lost lines. */
export const makeForward = (to: Writable, lost: (count: number) => string): ((from: Readable) => void) => {
  LogSink.ignoreErrors(to)
  const paused = new Set<Readable>()
  let lostLines = 0

  const write = (lines: Buffer): boolean => {
    // Begins with a line feed, because a failed write may have left part of a line.
    const before = lostLines === 0 ? "" : `\n${lost(lostLines)}\n`
    const reported = lostLines
    lostLines = 0
    return to.write(Buffer.concat([Buffer.from(before), lines]), (error) => {
      if (error != null) lostLines += reported + lineCount(lines)
    })
  }

  const resume = (): void => {
    for (const stream of paused) stream.resume()
    paused.clear()
  }

  return (from) => {
    let rest: Buffer = Buffer.alloc(0)
    from.on("data", (chunk: Buffer) => {
      const end = chunk.lastIndexOf(LINE_FEED) + 1
      const isTooLong = end === 0 && rest.length + chunk.length > MAX_LINE_BYTES
      if (end === 0 && !isTooLong) {
        rest = Buffer.concat([rest, chunk])
        return
      }
      const lines = isTooLong
        ? Buffer.concat([rest, chunk, Buffer.from("\n")])
        : Buffer.concat([rest, chunk.subarray(0, end)])
      rest = isTooLong ? Buffer.alloc(0) : chunk.subarray(end)
      if (write(lines)) return
      if (paused.size === 0) to.once("drain", resume)
      paused.add(from.pause())
    })
    from.once("close", () => {
      paused.delete(from)
      // A worker that is killed may end in the middle of a line.
      if (rest.length > 0) write(Buffer.concat([rest, Buffer.from("\n")]))
    })
    // A broken pipe means that the worker has exited.
    from.on("error", () => undefined)
  }
}

const lineCount = (lines: Buffer): number => {
  let count = 0
  for (const byte of lines) if (byte === LINE_FEED) count++
  return count
}
