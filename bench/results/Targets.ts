/** What the figures have to reach. */

import { operations } from "../http/Operation.ts"
import { bare, reference } from "../http/Servers.ts"
import { wholeThousands } from "../Thousands.ts"
import { figuresOf, processFigureOf, type Results } from "./Results.ts"

/** One server's CPU time for an operation, at most as a multiple of another's. */
export interface CpuTarget {
  readonly server: string
  readonly against: string
  readonly operation: string
  readonly most: number
}

const ofReference = (
  against: string,
  mostByOperation: Readonly<Record<string, number>>
): ReadonlyArray<CpuTarget> =>
  Object.entries(mostByOperation).map(([operation, most]) => ({
    server: reference.name,
    against,
    operation,
    most
  }))

const everyOperation = (most: number): Readonly<Record<string, number>> =>
  Object.fromEntries(operations.map(({ name }) => [name, most]))

/** Those for CPU time. */
export const cpuTargets: ReadonlyArray<CpuTarget> = [
  ...ofReference(bare.name, { "list 20": 1.4, get: 1.3, create: 1.7, "401": 1.3, "429": 1.3 }),
  ...ofReference("Fastify", everyOperation(0.9)),
  ...ofReference("Express", everyOperation(0.5)),
  ...ofReference("Hono", everyOperation(0.5)),
  ...ofReference("HttpApi", everyOperation(0.5)),
  { server: "AnimalStore SQLite", against: reference.name, operation: "list 20", most: 2.2 }
]

/** Any other. */
export interface Target {
  readonly what: string
  /** The figure must not be beyond it. */
  readonly bound: { readonly least: number } | { readonly most: number }
  readonly show: (value: number) => string
  /** `undefined` where it was not measured. */
  readonly figure: (results: Results) => number | undefined
}

const perSecond = (value: number): string => `${wholeThousands(value)} per second`
const bytes = (value: number): string => `${Math.round(value)} bytes`
const percent = (value: number): string => `${(value * 100).toFixed(1)} %`

/** Calls per second of what is measured in nanoseconds for each. */
const calls =
  (group: string, name: string) =>
  (results: Results): number | undefined => {
    const figure = processFigureOf(results, group, name)
    return figure === undefined ? undefined : 1e9 / figure.value
  }

const value =
  (group: string, name: string) =>
  (results: Results): number | undefined =>
    processFigureOf(results, group, name)?.value

/** Memory is never still to the byte; a line that rises by so much within a minute is growth. */
const STILL = 0.02

/** Those for everything else. */
export const targets: ReadonlyArray<Target> = [
  ...["list 20", "get"].map(
    (operation): Target => ({
      what: `p99 as a multiple of p50 at half of the maximum, ${operation}`,
      bound: { most: 5 },
      show: (value) => value.toFixed(1),
      figure: ({ latency }) =>
        latency?.operations.find(
          (figures) => figures.server === reference.name && figures.operation === operation
        )?.tail.median
    })
  ),
  {
    what: "Growth of memory in use over the second half of the soak",
    bound: { most: STILL },
    show: percent,
    figure: ({ soak }) => soak?.usedGrowth.share
  },
  {
    what: "Growth of resident memory over the second half of the soak",
    bound: { most: STILL },
    show: percent,
    figure: ({ soak }) => soak?.residentGrowth.share
  },
  {
    what: "One step of the limits, an admitted request",
    bound: { least: 5_000_000 },
    show: perSecond,
    figure: calls("limits, one step", "admitted")
  },
  {
    what: "Requests counted in memory, 1 000 callers",
    bound: { least: 1_000_000 },
    show: perSecond,
    figure: calls("limits in memory, 1 000 callers", "animal-store")
  },
  {
    what: "Memory of a caller whose windows are over, of a million",
    bound: { most: 200 },
    show: bytes,
    figure: value("growth of limits", "an idle caller of 1 000 000, after their windows")
  },
  {
    what: "Memory of a live caller, of a million",
    bound: { most: 400 },
    show: bytes,
    figure: value("growth of limits", "a live caller of 1 000 000")
  },
  {
    what: "Durable creations over HTTP in SQLite, 64 clients",
    bound: { least: 5_000 },
    show: perSecond,
    figure: (results) => figuresOf(results, "AnimalStore SQLite", "create")?.perSecond.median
  },
  {
    what: "Counting a caller among 1 000 000, as a multiple of counting the only one",
    bound: { most: 1.5 },
    show: (value) => value.toFixed(1),
    figure: (results) => {
      const [one, million] = ["1 caller", "1 000 000 callers"].map(
        (callers) => processFigureOf(results, "growth of limits", `consume, ${callers}`)?.value
      )
      return one === undefined || million === undefined ? undefined : million / one
    }
  },
  {
    what: "The command listens, after its start",
    bound: { most: 500 },
    show: (value) => `${Math.round(value)} ms`,
    figure: value("start-up", "the command listens, memory:")
  }
]

/** A target and what came of it. */
export interface Verdict {
  readonly bound: string
  /** `undefined` where it was not measured. */
  readonly figure: string | undefined
  readonly isMet: boolean
}

/** Judges CPU time. */
export const judgeCpu = (results: Results, { against, most, operation, server }: CpuTarget): Verdict => {
  const own = figuresOf(results, server, operation)
  const other = figuresOf(results, against, operation)
  const ratio =
    own === undefined || other === undefined ? undefined : own.cpuMicros.median / other.cpuMicros.median
  return { bound: `≤ ${most}`, figure: ratio?.toFixed(2), isMet: ratio !== undefined && ratio <= most }
}

/** Judges anything else. */
export const judge = (results: Results, { bound, figure, show }: Target): Verdict => {
  const value = figure(results)
  const isMet = value !== undefined && ("least" in bound ? value >= bound.least : value <= bound.most)
  return {
    bound: "least" in bound ? `≥ ${show(bound.least)}` : `≤ ${show(bound.most)}`,
    figure: value === undefined ? undefined : show(value),
    isMet
  }
}
