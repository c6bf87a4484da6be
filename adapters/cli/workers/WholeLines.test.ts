import { PassThrough, Writable } from "node:stream"
import { setImmediate as turn } from "node:timers/promises"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as WholeLines from "./WholeLines.ts"

const formatLost = (count: number): string => `lost ${count}`

const collector = () => {
  const written: Array<string> = []
  const stream = new Writable({
    write: (chunk: Buffer, _, done) => {
      written.push(chunk.toString())
      done()
    }
  })
  return { written, stream }
}

describe("WholeLines.makeForward", () => {
  it("writes only whole lines, in the order of each worker, wherever the chunks are cut", async () => {
    const line = fc.record({
      worker: fc.nat(2),
      cuts: fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 4 })
    })
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 40 }), async (lines) => {
        const { stream, written } = collector()
        const forward = WholeLines.makeForward(stream, formatLost)
        const pipes = [0, 1, 2].map(() => new PassThrough())
        for (const pipe of pipes) forward(pipe)
        const sent = lines.map(({ worker }, index) => ({
          worker,
          text: `worker ${worker} wrote the line ${index} é`
        }))
        // All first parts, then all second parts, …, so that the parts of different workers' lines are interleaved.
        const cutLines = sent.map(({ text, worker }, index) => {
          const bytes = Buffer.from(`${text}\n`)
          const cuts = [...new Set(lines[index]?.cuts ?? [])].sort((a, b) => a - b)
          return {
            worker,
            parts: [0, ...cuts].map((from, part) => bytes.subarray(from, cuts[part] ?? bytes.length))
          }
        })
        const queues = pipes.map((_, worker) =>
          cutLines.filter((line) => line.worker === worker).flatMap(({ parts }) => parts)
        )
        for (let hasMore = true; hasMore; ) {
          hasMore = false
          for (const [worker, queue] of queues.entries()) {
            const part = queue.shift()
            if (part !== undefined) {
              hasMore = true
              pipes[worker]?.write(part)
              await turn()
            }
          }
        }
        for (const chunk of written) expect(chunk.endsWith("\n")).toBe(true)
        const out = written.join("").split("\n").slice(0, -1)
        for (const worker of [0, 1, 2]) {
          expect(out.filter((text) => text.startsWith(`worker ${worker} `))).toEqual(
            sent.filter((line) => line.worker === worker).map(({ text }) => text)
          )
        }
        expect(out).toHaveLength(sent.length)
      }),
      { numRuns: 20 }
    )
  })

  it("completes the unfinished line of a killed worker with a line feed", async () => {
    const { stream, written } = collector()
    const forward = WholeLines.makeForward(stream, formatLost)
    const pipe = new PassThrough()
    forward(pipe)
    pipe.write("a whole line\nhalf a li")
    await turn()
    pipe.destroy()
    await turn()
    expect(written.join("")).toBe("a whole line\nhalf a li\n")
  })

  it("stops reading from workers while the output stream is full, and continues afterwards", async () => {
    const waiting: Array<() => void> = []
    let bytes = 0
    const slow = new Writable({
      highWaterMark: 10,
      write: (chunk: Buffer, _, done) => {
        bytes += chunk.length
        waiting.push(done)
      }
    })
    const forward = WholeLines.makeForward(slow, formatLost)
    const pipes = [new PassThrough(), new PassThrough()]
    for (const pipe of pipes) forward(pipe)
    for (let round = 0; round < 100; round++) {
      for (const pipe of pipes) pipe.write("0123456789012345678\n")
      await turn()
    }
    expect(pipes.every((pipe) => pipe.isPaused())).toBe(true)
    expect(slow.writableLength).toBeLessThan(200)
    for (let idle = 0; idle < 1_000 && bytes < 4_000; idle++) {
      waiting.shift()?.()
      await turn()
    }
    expect(bytes).toBe(4_000)
  })

  it("writes the number of lost lines before the next line after a failed write", async () => {
    let isFull = true
    const calls: Array<string> = []
    const to = new Writable()
    to.write = ((chunk: Buffer, done: (error?: Error | null) => void) => {
      calls.push(chunk.toString())
      done(isFull ? new Error("full") : null)
      return true
    }) as typeof to.write
    const forward = WholeLines.makeForward(to, formatLost)
    const pipe = new PassThrough()
    forward(pipe)
    pipe.write("one\ntwo\n")
    await turn()
    pipe.write("three\n")
    await turn()
    isFull = false
    pipe.write("four\n")
    await turn()
    expect(calls.at(-1)).toBe("\nlost 3\nfour\n")
    pipe.write("five\n")
    await turn()
    expect(calls.at(-1)).toBe("five\n")
  })
})
