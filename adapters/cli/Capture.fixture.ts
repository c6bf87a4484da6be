/** Collects the text of a stream, and waits for patterns in it. */
import type { Readable } from "node:stream"

export interface Capture {
  readonly text: () => string
  readonly add: (chunk: string) => void
  /** Completes the text: pending waits fail. */
  readonly end: () => void
  /** Waits until the text matches the pattern; rejects if it ends without a match. */
  readonly waitFor: (pattern: RegExp) => Promise<RegExpExecArray>
  readonly ended: Promise<string>
}

export const make = (): Capture => {
  let text = ""
  let isEnded = false
  let resolveEnded: (text: string) => void = () => undefined
  const ended = new Promise<string>((resolve) => {
    resolveEnded = resolve
  })
  const waiting = new Set<() => void>()
  const wake = (): void => {
    for (const check of waiting) check()
  }
  return {
    text: () => text,
    ended,
    add: (chunk) => {
      text += chunk
      wake()
    },
    end: () => {
      isEnded = true
      wake()
      resolveEnded(text)
    },
    waitFor: (pattern) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          const match = pattern.exec(text)
          if (match === null && !isEnded) return
          waiting.delete(check)
          if (match === null) reject(new Error(`no match for ${pattern}: ${JSON.stringify(text)}`))
          else resolve(match)
        }
        waiting.add(check)
        check()
      })
  }
}

/** Captures the text of a stream of another process; `null` means that the stream is not a pipe, and has no text here. */
export const ofStream = (stream: Readable | null): Capture => {
  const capture = make()
  if (stream === null) capture.end()
  else stream.setEncoding("utf8").on("data", capture.add).once("close", capture.end)
  return capture
}
