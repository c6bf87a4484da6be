/** Shows the progress of a run: on a terminal, one line that is rewritten; otherwise, one line per part. */

const minutes = (seconds: number): string => {
  const whole = Math.round(seconds)
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`
}

/** The output to which progress is written. */
export interface Output {
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
  readonly write: (text: string) => unknown
}

/** The progress of a run, computed from the estimated times of its parts. */
export class Progress {
  readonly #began = performance.now()
  readonly #totalSeconds: number
  readonly #output: Output
  #spentSeconds = 0
  #part = ""

  constructor(totalSeconds: number, output: Output = process.stderr) {
    this.#totalSeconds = totalSeconds
    this.#output = output
  }

  /** Shows that a part starts. */
  begin(part: string): void {
    this.#part = part
    if (this.#output.isTTY === true) this.#rewrite(part)
    else this.#output.write(`${this.#head()} ${part}\n`)
  }

  /** Shows a step within the part, on a terminal only. */
  step(detail: string): void {
    if (this.#output.isTTY === true) this.#rewrite(`${this.#part}: ${detail}`)
  }

  /** Adds estimated seconds to the finished part of the run. */
  advance(seconds: number): void {
    this.#spentSeconds += seconds
  }

  /** Writes a line that is not overwritten. */
  note(text: string): void {
    this.#output.write(`${this.#clear()}${text}\n`)
  }

  /** Removes the progress line. */
  end(): void {
    this.#output.write(this.#clear())
  }

  #head(): string {
    const share = Math.min(Math.floor((this.#spentSeconds / this.#totalSeconds) * 100), 100)
    return `${minutes((performance.now() - this.#began) / 1000)} ${String(share).padStart(3)}%`
  }

  #clear(): string {
    return this.#output.isTTY === true ? "\r\u001b[K" : ""
  }

  #rewrite(text: string): void {
    const line = `${this.#head()}  ${text}`
    // A line that wraps cannot be rewritten.
    this.#output.write(`${this.#clear()}${line.slice(0, Math.max((this.#output.columns ?? 80) - 1, 20))}`)
  }
}
