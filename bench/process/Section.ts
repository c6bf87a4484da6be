/** A part of the bench that can run alone. */
import type { Figure } from "./Figure.ts"

export interface Section {
  readonly name: string
  /** Measures; `progress` is told what is measured now, and what is left out and why. */
  readonly run: (progress: (text: string) => void) => Promise<ReadonlyArray<Figure>>
}
