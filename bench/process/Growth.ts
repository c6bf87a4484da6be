/**
 * Measures how time and memory grow with the number of callers and animals in memory. Each measurement has its own
 * process, so that garbage from other measurements does not count.
 */
import { Child, type Guard } from "../http/Child.ts"
import type { Figure } from "./Figure.ts"
import type { Measured } from "./GrowthSubject.ts"
import * as Limiters from "./Limiters.ts"
import { figure, REPEATS } from "./Repeats.ts"
import type { Section } from "./Section.ts"

const module = new URL("./GrowthSubject.ts", import.meta.url)

/** Timeout of a measurement in milliseconds. */
const TIMEOUT_MS = 150_000

const isMeasured: Guard<Measured> = (message): message is Measured =>
  typeof message === "object" && message !== null

/** Measures in a separate process. */
const measureInProcess = async (args: ReadonlyArray<string>): Promise<Measured> => {
  const child = new Child({ name: args.join(" "), module, arguments: args })
  try {
    return await child.receive(isMeasured, TIMEOUT_MS)
  } finally {
    await child.stop()
  }
}

/** A store that several processes fill and measure. */
interface Subject {
  readonly args: readonly [kind: "limits" | "animals", name: string, count: string]
  /** Whether time is also measured; processes that measure only memory run concurrently. */
  readonly isTimed: boolean
}

const measureRepeatedly = async (
  { args, isTimed }: Subject,
  progress: (text: string) => void
): Promise<ReadonlyArray<Measured>> => {
  if (!isTimed) {
    progress(`${REPEATS} concurrently`)
    return Promise.all(Array.from({ length: REPEATS }, () => measureInProcess(args)))
  }
  const measured: Array<Measured> = []
  for (let count = 0; count < REPEATS; count++) {
    progress(`${count + 1} of ${REPEATS}`)
    measured.push(await measureInProcess(args))
  }
  return measured
}

/** Creates a section with the figures in the order in which the processes send them. */
const section = (name: string, subjects: ReadonlyArray<Subject>): Section => ({
  name,
  run: async (progress) => {
    const figures: Array<Figure> = []
    for (const subject of subjects) {
      const [, library, count] = subject.args
      const measured = await measureRepeatedly(subject, (text) =>
        progress(`${name}: ${library}, ${count}, ${text}`)
      )
      for (const [what, { unit }] of Object.entries(measured[0] ?? {})) {
        const values = measured.map((each) => each[what]?.value ?? Number.NaN)
        figures.push(figure(name, what, unit, values))
      }
    }
    return figures
  }
})

const CALLERS = ["1", "1000", "1000000"]
const MAX_CALLERS = "1000000"
const ANIMALS = ["1000", "1000000"]

export const sections: ReadonlyArray<Section> = [
  section("growth of limits", [
    ...CALLERS.map((count): Subject => ({ args: ["limits", "animal-store", count], isTimed: true })),
    ...Object.keys(Limiters.others).map(
      (name): Subject => ({ args: ["limits", name, MAX_CALLERS], isTimed: false })
    )
  ]),
  section(
    "growth of animals",
    ANIMALS.map((count): Subject => ({ args: ["animals", "animal-store", count], isTimed: true }))
  )
]
