/** Which plots are made of results. */
import type { ServerFigures } from "../http/Rounds.ts"
import { reference } from "../http/Servers.ts"
import type { SoakFigures } from "../http/Soak.ts"
import { pictures } from "./Markdown.ts"
import * as Plot from "./Plot.ts"
import type { HttpResults, Results, ServerEntry } from "./Results.ts"
import type { Spread } from "./Spread.ts"

/** Bars of some of the servers, by operation. */
const byOperation = (
  { operations, servers }: HttpResults,
  isShown: (server: ServerEntry) => boolean,
  title: string,
  pick: (figures: ServerFigures) => Spread,
  show: (value: number) => string
): string =>
  Plot.bars({
    title,
    show,
    groups: operations.map(({ operation, servers: figures }) => ({
      name: operation,
      bars: servers.filter(isShown).flatMap(({ isOurs, name }) => {
        const own = figures.find(({ server }) => server === name)
        if (own === undefined) return []
        const { max, median, min } = pick(own)
        return [{ label: name, value: median, low: min, high: max, isOurs }]
      })
    }))
  })

const micros = (value: number): string => `${value.toFixed(value >= 10 ? 0 : 1)} µs`
const thousands = (value: number): string => `${(value / 1000).toFixed(1)} k`

const ofHttp = (http: HttpResults): ReadonlyArray<readonly [file: string, picture: string]> => {
  // A server that waits for a disk is no rival of one that does not, and its bars would dwarf all others.
  const inMemory = ({ isDurable }: ServerEntry): boolean => !isDurable
  const stores = ({ isDurable, name }: ServerEntry): boolean => isDurable || name === reference.name
  const cpu = (figures: ServerFigures): Spread => figures.cpuMicros
  return [
    [pictures.cpu, byOperation(http, inMemory, "CPU time for a request (less is better)", cpu, micros)],
    [
      pictures.throughput,
      byOperation(http, inMemory, "Requests per second (more is better)", (of) => of.perSecond, thousands)
    ],
    [
      pictures.databases,
      byOperation(http, stores, "CPU time for a request, by store (less is better)", cpu, micros)
    ]
  ]
}

const ofSoak = ({
  samples,
  server
}: SoakFigures): ReadonlyArray<readonly [file: string, picture: string]> => [
  [
    pictures.soak,
    Plot.lines({
      title: `Memory of ${server} under full load`,
      showX: (seconds) => `${seconds} s`,
      showY: (bytes) => `${(bytes / 2 ** 20).toFixed(0)} MiB`,
      lines: [
        {
          label: "resident",
          isOurs: false,
          points: samples.map(({ residentBytes, seconds }) => [seconds, residentBytes] as const)
        },
        {
          label: "in use, garbage collected",
          isOurs: true,
          points: samples.map(({ seconds, usedBytes }) => [seconds, usedBytes] as const)
        }
      ]
    })
  ]
]

/** The plots of what was measured, by name of the file. */
export const make = ({ http, soak }: Results): ReadonlyArray<readonly [file: string, picture: string]> => [
  ...(http === undefined ? [] : ofHttp(http)),
  ...(soak === undefined ? [] : ofSoak(soak))
]
