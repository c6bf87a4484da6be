/** Defines the targets for the figures, and judges them. All targets are judged on varied requests. */
import { bare, fetch, postgres, reference, sqlite } from "../http/Servers.ts"
import { atConnections, DEFAULT_CONNECTIONS, MAX_CONNECTIONS } from "../http/Workload.ts"
import type { ProcessFigures } from "../process/Process.ts"
import * as Comparison from "./Comparison.ts"
import { thousands } from "./Markdown.ts"
import { figureOf, type Results, ratioOf } from "./Results.ts"

/** A target. */
export interface Target {
  readonly what: string
  readonly bound: { readonly min: number } | { readonly max: number }
  readonly show: (value: number) => string
  /** Returns the figure, or `undefined` if it was not measured. */
  readonly figure: (results: Results) => number | undefined
}

const perSecond = (value: number): string => `${thousands(value)} per second`
const bytes = (value: number): string => `${thousands(value)} bytes`
const multiple = (value: number): string => value.toFixed(1)

/** Returns the median of a figure that is measured within a process. */
const inProcess =
  (name: Exclude<keyof ProcessFigures, "imports">) =>
  ({ process }: Results): number | undefined =>
    process?.[name]?.median

/** Returns `figure` as a multiple of `base`; `undefined` if either is missing. */
const ratio = (figure: number | undefined, base: number | undefined): number | undefined =>
  figure === undefined || base === undefined ? undefined : figure / base

/** Converts nanoseconds per call to calls per second. */
const calls = (name: "stepNanos" | "countNanos") => (results: Results) => ratio(1e9, inProcess(name)(results))

/** Returns the 99th percentile of the latency at half of the maximum throughput. */
const p99 = ({ latency }: Results, server: string, workload: string): number | undefined =>
  latency?.workloads.find((figures) => figures.server === server && figures.workload === workload)?.p99.median

const throughput = (results: Results, name: string): number | undefined =>
  figureOf(results, postgres.name, name, "perSecond")?.median

const fetchCpu = (results: Results, name: string): number | undefined =>
  figureOf(results, fetch.name, name, "cpuMicros")?.median

/** The CPU time of a server as a multiple of its peer's. */
const compared: ReadonlyArray<Target> = Comparison.pairs.flatMap(({ max, ours, peer }) =>
  Object.entries(max).map(([name, max]) => ({
    what: `CPU time of ${ours.name} / ${peer.name}, ${name}`,
    bound: { max },
    show: (value) => value.toFixed(2),
    figure: (results) => ratioOf(results, ours.name, peer.name, name)?.median
  }))
)

/** The time to handle a request in memory without a host, and the bytes that it allocates. */
const handled: ReadonlyArray<Target> = (
  [
    ["get", "getMicros", 5],
    ["list of 20", "listMicros", 10],
    ["create", "createMicros", 8],
    ["401 without a key", "unauthorizedMicros", 2.5]
  ] as const
).map(([name, figure, max]) => ({
  what: `Time of \`Service.handle\` in memory, ${name}`,
  bound: { max },
  show: (value) => `${value.toFixed(1)} µs`,
  figure: inProcess(figure)
}))

/** All targets. */
export const targets: ReadonlyArray<Target> = [
  ...compared,
  ...handled,
  {
    what: "Memory that `Service.handle` allocates in memory, get",
    bound: { max: 6_500 },
    show: bytes,
    figure: inProcess("getBytes")
  },
  ...["list 20", "get"].map(
    (workload): Target => ({
      what: `99th percentile of latency at half of the maximum rate, as a multiple of ${bare.name}'s, ${workload}`,
      bound: { max: 2 },
      show: multiple,
      figure: (results) => ratio(p99(results, reference.name, workload), p99(results, bare.name, workload))
    })
  ),
  {
    what: "One step of the limits, an admitted request",
    bound: { min: 5_000_000 },
    show: perSecond,
    figure: calls("stepNanos")
  },
  {
    what: "Requests counted in memory, 1,000 callers",
    bound: { min: 1_000_000 },
    show: perSecond,
    figure: calls("countNanos")
  },
  {
    what: "Memory per caller whose windows have ended, with a million callers",
    bound: { max: 200 },
    show: bytes,
    figure: inProcess("idleCallerBytes")
  },
  {
    what: "Memory per live caller, with a million callers",
    bound: { max: 400 },
    show: bytes,
    figure: inProcess("liveCallerBytes")
  },
  {
    what: "Durable creations over HTTP in SQLite, 64 connections",
    bound: { min: 5_000 },
    show: perSecond,
    figure: (results) => figureOf(results, sqlite.name, "create", "perSecond")?.median
  },
  {
    what: "CPU time of a creation as a multiple of a get, through `fetch`",
    bound: { max: 1.6 },
    show: (value) => value.toFixed(2),
    figure: (results) => ratio(fetchCpu(results, "create"), fetchCpu(results, "get"))
  },
  ...(
    [
      ["get", 12_000],
      ["list 20", 8_000]
    ] as const
  ).flatMap(
    ([name, min]): ReadonlyArray<Target> => [
      {
        what: `Requests to one process with PostgreSQL, ${name}`,
        bound: { min },
        show: perSecond,
        figure: (results) => throughput(results, name)
      },
      {
        what: `PostgreSQL throughput with ${MAX_CONNECTIONS} connections, as a multiple of that with ${DEFAULT_CONNECTIONS}, ${name}`,
        bound: { min: 1 },
        show: (value) => value.toFixed(2),
        figure: (results) =>
          ratio(throughput(results, atConnections(name, MAX_CONNECTIONS)), throughput(results, name))
      }
    ]
  ),
  {
    what: "Requests counted in Redis by one process, 64 in flight",
    bound: { min: 40_000 },
    show: perSecond,
    figure: inProcess("redisPerSecond")
  },
  ...(
    [
      ["SQLite", 100_000],
      ["SQLite, --keep-ids", 100_000],
      ["PostgreSQL", 30_000],
      ["PostgreSQL, --keep-ids", 30_000]
    ] as const
  ).map(
    ([name, min]): Target => ({
      what: `Animals imported into ${name}`,
      bound: { min },
      show: perSecond,
      figure: ({ process }) => process?.imports[name]?.median
    })
  ),
  {
    what: "Counting a caller among 1,000,000, as a multiple of reading a `Map` of that size",
    bound: { max: 1.5 },
    show: multiple,
    figure: inProcess("millionRatio")
  },
  {
    what: "Time until the command listens",
    bound: { max: 500 },
    show: (value) => `${Math.round(value)} ms`,
    figure: inProcess("listeningMs")
  }
]

/** The verdict about a target. */
export interface Verdict {
  readonly bound: string
  /** `undefined` if it was not measured. */
  readonly figure: string | undefined
  readonly isMet: boolean
}

/** Judges a target. */
export const judge = (results: Results, { bound, figure, show }: Target): Verdict => {
  const measured = figure(results)
  const isMet = measured !== undefined && ("min" in bound ? measured >= bound.min : measured <= bound.max)
  return {
    bound: "min" in bound ? `≥ ${show(bound.min)}` : `≤ ${show(bound.max)}`,
    figure: measured === undefined ? undefined : show(measured),
    isMet
  }
}
