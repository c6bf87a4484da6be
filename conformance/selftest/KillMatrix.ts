/** Runs the suite on every backend of the self-test, and shows which checks catch which fault. */
import * as Effect from "effect/Effect"
import { matcher } from "../engine/Selection.ts"
import { conformingVariants } from "./ConformingVariants.ts"
import { faults } from "./Faults.ts"
import * as SelfTest from "./SelfTest.ts"
import * as Subjects from "./Subjects.ts"
import * as Threads from "./Threads.ts"

/** The result for one backend. */
export interface Row {
  readonly id: string
  /** Why the suite misses a fault, or what it reports about a correct backend; one entry for each such seed. */
  readonly problems: ReadonlyArray<string>
  /** The other checks that fail with the first seed. */
  readonly alsoFails: ReadonlyArray<string>
}

/** A backend of the self-test. */
interface Backend {
  readonly id: string
  /** The first cells of its row. */
  readonly cells: ReadonlyArray<string>
  readonly isFaulty: boolean
  /** Returns the problem with one seed, if there is one. */
  readonly problemWith: (seed: number) => Effect.Effect<string | undefined, unknown>
  readonly alsoFails: Effect.Effect<ReadonlyArray<string>, unknown>
}

const correct = (
  id: string,
  differs: string,
  objections: (seed: number) => Effect.Effect<ReadonlyArray<string>, unknown>
): Backend => ({
  id,
  cells: [`\`${id}\``, differs],
  isFaulty: false,
  problemWith: (seed) =>
    Effect.map(objections(seed), (all) => (all.length === 0 ? undefined : all.join("; "))),
  alsoFails: Effect.succeed([])
})

const reference = (id: string, subject: Parameters<typeof SelfTest.examine>[0]): Backend =>
  correct(id, "Conforms at level design.", (seed) =>
    Effect.map(SelfTest.examine(subject, { level: "design", seed }), SelfTest.objections)
  )

const backends: ReadonlyArray<Backend> = [
  reference("reference", Subjects.reference),
  reference("reference-ports", Subjects.referencePorts),
  ...conformingVariants.map((variant) =>
    correct(variant.id, variant.differs, (seed) => SelfTest.complaints(variant, seed))
  ),
  ...faults.map((fault): Backend => {
    const { breaks, does, id, killedBy, where } = fault
    return {
      id,
      cells: [`\`${id}\``, where.at, does, `\`${breaks}\``, `\`${killedBy}\``],
      isFaulty: true,
      problemWith: (seed) => SelfTest.missOf(fault, seed),
      alsoFails: Effect.map(SelfTest.killersOf(fault, 1), (ids) => ids.filter((other) => other !== killedBy))
    }
  })
]

export interface Task {
  readonly id: string
  readonly seeds: number
}

/** Runs the suite on the backend with an id; for `Threads.map`. */
export const task = ({ id, seeds }: Task): Promise<Row> =>
  Effect.runPromise(
    Effect.gen(function* () {
      const backend = backends.find((candidate) => candidate.id === id)
      if (backend === undefined) throw new Error(`the backend "${id}" does not exist`)
      const problems: Array<string> = []
      for (let seed = 1; seed <= seeds; seed++) {
        const problem = yield* backend.problemWith(seed)
        if (problem !== undefined) problems.push(`seed ${seed}: ${problem}`)
      }
      return { id, problems, alsoFails: yield* backend.alsoFails }
    })
  )

export interface Options {
  /** The number of seeds for each backend. */
  readonly seeds: number
  /** Ids of backends, or patterns such as `list.*`; all backends if empty. */
  readonly only?: ReadonlyArray<string>
  readonly onRow?: (row: Row, done: number, total: number) => void
}

/** Runs the suite on the selected backends in several threads. */
export const run = ({ only = [], onRow = () => undefined, seeds }: Options): Promise<ReadonlyArray<Row>> => {
  const inputs = backends
    .map(({ id }): Task => ({ id, seeds }))
    .filter(({ id }) => only.length === 0 || only.some((pattern) => matcher(pattern)(id)))
  return Threads.map<Task, Row>({
    module: import.meta.url,
    inputs,
    onResult: (row, done) => onRow(row, done, inputs.length)
  })
}

const table = (
  heading: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>
): ReadonlyArray<string> =>
  [heading, heading.map(() => "---"), ...rows].map(
    (cells) => `| ${cells.map((text) => text.replaceAll("|", "\\|")).join(" | ")} |`
  )

/** Renders the rows as a page. */
export const render = (rows: ReadonlyArray<Row>, seeds: number): string => {
  const byId = new Map(rows.map((row) => [row.id, row]))
  const cellsOf = (isFaulty: boolean) =>
    backends
      .filter((backend) => backend.isFaulty === isFaulty)
      .flatMap(({ cells, id }) => {
        const row = byId.get(id)
        if (row === undefined) return []
        const passed = `${seeds - row.problems.length}/${seeds}`
        const others = row.alsoFails.map((other) => `\`${other}\``).join(", ")
        return [[...cells, passed, ...(isFaulty ? [others] : [])]]
      })
  return [
    "# The kill matrix",
    "",
    "The suite is tested with backends that have one fault each. A fault is caught if its check fails and reports the",
    "expected words; the last column lists the other checks that fail. The second table lists correct backends.",
    "",
    ...table(["Fault", "At", "Behavior", "Breaks", "Caught by", "Seeds", "Also fails"], cellsOf(true)),
    "",
    ...table(["Correct backend", "How it differs", "Seeds"], cellsOf(false)),
    ""
  ].join("\n")
}
