import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { chunksOf } from "./Chunks.arbitrary.ts"
import * as Lines from "./Lines.ts"

const LF = 0x0a
const CR = 0x0d
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]

const lineBytes = fc.array(
  fc.oneof({ weight: 5, arbitrary: fc.nat(255) }, fc.constantFrom(CR, ...BYTE_ORDER_MARK)),
  {
    maxLength: 20
  }
)

const separated = fc
  .tuple(fc.array(fc.tuple(lineBytes, fc.constantFrom([LF], [CR, LF]))), lineBytes, fc.boolean())
  .map(([lines, last, hasMark]) =>
    Uint8Array.from([
      ...(hasMark ? BYTE_ORDER_MARK : []),
      ...lines.flatMap(([line, lineEnding]) => [...line, ...lineEnding]),
      ...last
    ])
  )

/** Generates a file as one array of bytes, and the same file in chunks. */
const chunked = separated.chain((file) => fc.tuple(fc.constant(file), chunksOf(file)))

const readAll = (chunks: ReadonlyArray<Uint8Array>): ReadonlyArray<Lines.Line> => {
  let state = Lines.start()
  const read: Array<Lines.Line> = []
  for (const chunk of chunks) {
    const [lines, next] = Lines.push(state, chunk)
    // Copied, because the memory of a chunk may be reused, which `fill` simulates.
    read.push(...lines.map((line) => ({ ...line, bytes: line.bytes?.slice() })))
    chunk.fill(0x2a)
    state = next
  }
  return [...read, ...Lines.end(state)]
}

/** Splits a whole file into lines with a simpler algorithm. */
const model = (file: Uint8Array): ReadonlyArray<ReadonlyArray<number>> => {
  const lines: Array<Array<number>> = [[]]
  for (const byte of file) {
    if (byte === LF) lines.push([])
    else lines.at(-1)?.push(byte)
  }
  const [first] = lines
  if (first !== undefined && BYTE_ORDER_MARK.every((byte, index) => first[index] === byte)) first.splice(0, 3)
  if (file.length === 0 || file.at(-1) === LF) lines.pop()
  return lines.map((line) => (line.at(-1) === CR ? line.slice(0, -1) : line))
}

describe("Lines.push", () => {
  it("returns the same lines for any chunks of a file, even if the memory of chunks is reused", () => {
    fc.assert(
      fc.property(chunked, ([file, chunks]) => {
        const lines = readAll(chunks)
        expect(lines.map(({ bytes }) => [...(bytes ?? [])])).toEqual(model(file))
        expect(lines.map(({ number }) => number)).toEqual(lines.map((_, index) => index + 1))
      }),
      { numRuns: 500 }
    )
  })

  it("returns offsets from which reading can resume with the remaining lines", () => {
    fc.assert(
      fc.property(separated, fc.nat(), (file, choice) => {
        const all = readAll([file.slice()])
        const before = all.slice(0, all.length === 0 ? 0 : choice % (all.length + 1))
        const last = before.at(-1)
        const state = Lines.start({ bytes: last?.end ?? 0, lines: before.length })
        const [lines, next] = Lines.push(state, file.slice(last?.end ?? 0))
        expect([...lines, ...Lines.end(next)]).toEqual(all.slice(before.length))
      })
    )
  })

  it("counts all bytes, and the bytes of complete lines", () => {
    fc.assert(
      fc.property(chunked, ([file, chunks]) => {
        let state = Lines.start()
        for (const chunk of chunks) state = Lines.push(state, chunk)[1]
        expect(state.complete).toBe(file.lastIndexOf(LF) + 1)
        expect(state.bytes).toBe(file.length)
      })
    )
  })

  it.each([
    ["LF", [LF]],
    ["CRLF", [CR, LF]]
  ])(
    "accepts lines of at most 65,536 bytes before %s and rejects longer ones, however the file is divided",
    (_, lineEnding) => {
      for (const cut of [1, 1_000, 65_535, 65_536, 65_537, 65_540, 100_000]) {
        for (const [size, isValid] of [
          [65_536, true],
          [65_537, false],
          [70_000, false]
        ] as const) {
          const file = Uint8Array.from([...new Uint8Array(size).fill(0x61), ...lineEnding, 0x62])
          const [line, nextLine] = readAll([file.slice(0, cut), file.slice(cut)])
          expect([line?.bytes?.length, line?.end], `${size} cut at ${cut}`).toEqual([
            isValid ? size : undefined,
            size + lineEnding.length
          ])
          expect(nextLine?.bytes).toEqual(Uint8Array.of(0x62))
        }
      }
    }
  )

  it("buffers only a bounded part of a line that has no line ending", () => {
    let state = Lines.start()
    let maxLength = 0
    for (let count = 0; count < 100; count++) {
      state = Lines.push(state, new Uint8Array(10_000).fill(0x61))[1]
      maxLength = Math.max(maxLength, state.rest?.length ?? 0)
    }
    expect(maxLength).toBeLessThanOrEqual(Lines.maxBytes + 4)
    expect(Lines.end(state)).toEqual([{ number: 1, bytes: undefined, end: 1_000_000 }])
  })
})
