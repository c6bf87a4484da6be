/** A part of the benchmark that can run alone. */
import type { Figure } from "./Figure.ts"

export interface Section {
  readonly name: string
  /** Measures the section; `progress` receives the current step, or the reason why a step is skipped. */
  readonly run: (progress: (text: string) => void) => Promise<ReadonlyArray<Figure>>
}
