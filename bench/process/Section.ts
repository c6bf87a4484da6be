/** A part of the bench that can run alone. */
import type { Figure } from "./Figure.ts"

export interface Section {
  readonly name: string
  /** Measures; `progress` receives the current step, and what is skipped and why. */
  readonly run: (progress: (text: string) => void) => Promise<ReadonlyArray<Figure>>
}
