/** Defines and judges the targets of the figures. All targets are judged on varied requests. */
import { bare, fastify, POSTGRES, reference, SQLITE } from "../http/Servers.ts"
import { atConnections, MORE } from "../http/Workload.ts"
import { wholeThousands } from "../Thousands.ts"
import { figuresOf, processFigureOf, type Results } from "./Results.ts"

/** The maximum CPU time per request of one server, as a multiple of another server's. */
export interface CpuTarget {
  readonly server: string
  readonly against: string
  /** The name of the case. */
  readonly name: string
  readonly most: number
}

const cpu = (
  server: string,
  against: string,
  most: Readonly<Record<string, number>>
): ReadonlyArray<CpuTarget> => Object.entries(most).map(([name, most]) => ({ server, against, name, most }))

/** The targets for CPU time. */
export const cpuTargets: ReadonlyArray<CpuTarget> = [
  ...cpu(reference.name, bare.name, { get: 1.45, "401": 1.45, "429": 1.45, "list 20": 2, create: 2.1 }),
  ...cpu(reference.name, fastify.name, { get: 1, "401": 1, "429": 1, "list 20": 1, create: 1.1 }),
  ...cpu(SQLITE, bare.name, { get: 2.4, "list 20": 3.5, create: 4 }),
  ...cpu(POSTGRES, bare.name, { get: 4, "list 20": 4, create: 4, "401": 4, "429": 4 })
]

/** Any other target. */
export interface Target {
  readonly what: string
  readonly bound: { readonly least: number } | { readonly most: number }
  readonly show: (value: number) => string
  /** Returns the figure, or `undefined` if it was not measured. */
  readonly figure: (results: Results) => number | undefined
}

const perSecond = (value: number): string => `${wholeThousands(value)} per second`
const bytes = (value: number): string => `${Math.round(value)} bytes`
const percent = (value: number): string => `${(value * 100).toFixed(1)} %`
const multiple = (value: number): string => value.toFixed(1)

const value =
  (group: string, name: string) =>
  (results: Results): number | undefined =>
    processFigureOf(results, group, name)?.value

/** Returns one figure as a multiple of another. */
const ratio = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? undefined : one / other

/** Converts nanoseconds per call to calls per second. */
const calls =
  (group: string, name: string) =>
  (results: Results): number | undefined =>
    ratio(1e9, value(group, name)(results))

/** Returns the 99th percentile of the latency at half of the maximum throughput. */
const p99 = ({ latency }: Results, server: string, workload: string): number | undefined =>
  latency?.workloads.find(
    (figures) => figures.server === server && figures.workload === workload && figures.share === 0.5
  )?.p99.median

const throughput = (results: Results, name: string): number | undefined =>
  figuresOf(results, POSTGRES, name)?.perSecond.median

/** Maximum growth of memory in the soak, as a share; memory varies a little without growing. */
const STILL = 0.02

/** All other targets. */
export const targets: ReadonlyArray<Target> = [
  ...["list 20", "get"].map(
    (workload): Target => ({
      what: `99th percentile of latency at half of the maximum as a multiple of ${bare.name}'s, ${workload}`,
      bound: { most: 2 },
      show: multiple,
      figure: (results) => ratio(p99(results, reference.name, workload), p99(results, bare.name, workload))
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
    what: "Durable creations over HTTP in SQLite, 64 connections",
    bound: { least: 5_000 },
    show: perSecond,
    figure: (results) => figuresOf(results, SQLITE, "create")?.perSecond.median
  },
  ...(
    [
      ["get", 12_000],
      ["list 20", 8_000]
    ] as const
  ).flatMap(
    ([name, least]): ReadonlyArray<Target> => [
      {
        what: `Requests to one process with PostgreSQL, ${name}`,
        bound: { least },
        show: perSecond,
        figure: (results) => throughput(results, name)
      },
      {
        what: `The same at ${MORE} connections, as a multiple, ${name}`,
        bound: { least: 1 },
        show: (value) => value.toFixed(2),
        figure: (results) => ratio(throughput(results, atConnections(name, MORE)), throughput(results, name))
      }
    ]
  ),
  {
    what: "Requests counted in Redis by one process, 64 in flight",
    bound: { least: 40_000 },
    show: perSecond,
    figure: value("Redis", "consume, 10 000 callers, 64 clients")
  },
  {
    what: "Counting a caller among 1 000 000, as a multiple of reading a `Map` of as many",
    bound: { most: 1.5 },
    show: multiple,
    figure: (results) =>
      ratio(
        value("growth of limits", "consume, 1 000 000 callers")(results),
        value("growth of limits", "Map.get, 1 000 000 callers")(results)
      )
  },
  {
    what: "The command listens, after its start",
    bound: { most: 500 },
    show: (value) => `${Math.round(value)} ms`,
    figure: value("start-up", "the command listens, memory:")
  }
]

/** The verdict about a target. */
export interface Verdict {
  readonly bound: string
  /** `undefined` if it was not measured. */
  readonly figure: string | undefined
  readonly isMet: boolean
}

/** Judges a target for CPU time. */
export const judgeCpu = (
  results: Results | undefined,
  { against, most, name, server }: CpuTarget
): Verdict => {
  const measured =
    results &&
    ratio(
      figuresOf(results, server, name)?.cpuMicros.median,
      figuresOf(results, against, name)?.cpuMicros.median
    )
  return {
    bound: `≤ ${most.toFixed(2)}`,
    figure: measured?.toFixed(2),
    isMet: measured !== undefined && measured <= most
  }
}

/** Judges any other target. */
export const judge = (results: Results | undefined, { bound, figure, show }: Target): Verdict => {
  const measured = results && figure(results)
  const isMet =
    measured !== undefined && ("least" in bound ? measured >= bound.least : measured <= bound.most)
  return {
    bound: "least" in bound ? `≥ ${show(bound.least)}` : `≤ ${show(bound.most)}`,
    figure: measured === undefined ? undefined : show(measured),
    isMet
  }
}
