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

/** Creates a function that forwards the lines of a worker. `formatLost` formats the report of lost lines. */
export const makeForward = (
  output: Writable,
  formatLost: (count: number) => string
): ((pipe: Readable) => void) => {
  LogSink.ignoreErrors(output)
  const paused = new Set<Readable>()
  let lostLines = 0

  const write = (lines: Buffer): boolean => {
    // Begins with a line feed, because a failed write may have left part of a line.
    const report = lostLines === 0 ? "" : `\n${formatLost(lostLines)}\n`
    const reportedLines = lostLines
    lostLines = 0
    return output.write(Buffer.concat([Buffer.from(report), lines]), (error) => {
      if (error != null) lostLines += reportedLines + lineCount(lines)
    })
  }

  const resume = (): void => {
    for (const pipe of paused) pipe.resume()
    paused.clear()
  }

  return (pipe) => {
    let unfinished: Buffer = Buffer.alloc(0)
    pipe.on("data", (chunk: Buffer) => {
      const end = chunk.lastIndexOf(LINE_FEED) + 1
      const isTooLong = end === 0 && unfinished.length + chunk.length > MAX_LINE_BYTES
      if (end === 0 && !isTooLong) {
        unfinished = Buffer.concat([unfinished, chunk])
        return
      }
      const lines = isTooLong
        ? Buffer.concat([unfinished, chunk, Buffer.from("\n")])
        : Buffer.concat([unfinished, chunk.subarray(0, end)])
      unfinished = isTooLong ? Buffer.alloc(0) : chunk.subarray(end)
      if (write(lines)) return
      if (paused.size === 0) output.once("drain", resume)
      paused.add(pipe.pause())
    })
    pipe.once("close", () => {
      paused.delete(pipe)
      // A worker that is killed may end in the middle of a line.
      if (unfinished.length > 0) write(Buffer.concat([unfinished, Buffer.from("\n")]))
    })
    // A broken pipe means that the worker has exited.
    pipe.on("error", () => undefined)
  }
}

const lineCount = (lines: Buffer): number => {
  let count = 0
  for (const byte of lines) if (byte === LINE_FEED) count++
  return count
}
