/** Draws the plots of the results. */
import type { ServerFigures } from "../http/Rounds.ts"
import { reference } from "../http/Servers.ts"
import type { SoakFigures } from "../http/Soak.ts"
import { mix, operations } from "../http/Workload.ts"
import { pictures } from "./Markdown.ts"
import * as Plot from "./Plot.ts"
import type { HttpResults, Results, ServerEntry } from "./Results.ts"
import type { Spread } from "./Spread.ts"

/** The cases that are shown: varied requests over many connections. */
const shownCases = new Set([mix, ...operations].map(({ name }) => name))

/** Draws bars of some of the servers, by case. */
const byCase = (
  { cases, servers }: HttpResults,
  isShown: (server: ServerEntry) => boolean,
  title: string,
  pick: (figures: ServerFigures) => Spread,
  show: (value: number) => string
): string =>
  Plot.bars({
    title,
    show,
    groups: cases
      .filter(({ name }) => shownCases.has(name))
      .map(({ name, servers: figures }) => ({
        name,
        bars: servers.filter(isShown).flatMap(({ isOurs, name }) => {
          const serverFigures = figures.find(({ server }) => server === name)
          if (serverFigures === undefined) return []
          const { high, low, median } = pick(serverFigures)
          return [{ label: name, value: median, low, high, isOurs }]
        })
      }))
  })

const micros = (value: number): string => `${value.toFixed(value >= 10 ? 0 : 1)} µs`
const thousands = (value: number): string => `${(value / 1000).toFixed(1)} k`

const httpPictures = (http: HttpResults): ReadonlyArray<readonly [file: string, picture: string]> => {
  // Servers with a database would have bars that dwarf those of servers in memory.
  const isInMemory = ({ isDurable }: ServerEntry): boolean => !isDurable
  const isStoreVariant = ({ isDurable, name }: ServerEntry): boolean => isDurable || name === reference.name
  const cpu = (figures: ServerFigures): Spread => figures.cpuMicros
  return [
    [pictures.cpu, byCase(http, isInMemory, "CPU time per request (lower is better)", cpu, micros)],
    [
      pictures.throughput,
      byCase(http, isInMemory, "Requests per second (higher is better)", (of) => of.perSecond, thousands)
    ],
    [
      pictures.databases,
      byCase(http, isStoreVariant, "CPU time per request, by store (lower is better)", cpu, micros)
    ]
  ]
}

const soakPictures = ({
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
          label: "in use",
          isOurs: true,
          points: samples.map(({ seconds, usedBytes }) => [seconds, usedBytes] as const)
        }
      ]
    })
  ]
]

/** Draws the plots of the parts that were measured, each with the name of its file. */
export const make = ({ http, soak }: Results): ReadonlyArray<readonly [file: string, picture: string]> => [
  ...(http === undefined ? [] : httpPictures(http)),
  ...(soak === undefined ? [] : soakPictures(soak))
]
