/** Defines subjects: implementations under test. */
import type { Capability } from "../evaluation/Capability.ts"

/** An implementation under test. Programs get one from `Conformance`. */
export interface Subject {
  /** The name in reports. */
  readonly name: string
  readonly kind: "port" | "http"
  /** What the suite can use: keys, a clock and so on. */
  readonly capabilities: ReadonlySet<Capability>
}
