/** Draws conforming variants: plain servers whose choices together contain every pair of values of two choices. */
import * as Draws from "../mutants/Draws.ts"
import * as Choices from "./Choices.ts"

export interface Variant {
  /** The seed of the drawing, and the number of the variant in it. */
  readonly id: string
  readonly choices: Choices.Choices
}

type Row = ReadonlyMap<string, number>

const pairOf = (first: string, value: number, second: string, other: number): string =>
  first < second ? `${first} ${value} ${second} ${other}` : `${second} ${other} ${first} ${value}`

/** Adds a value of each dimension to a row: each time one that completes the most open pairs. */
const complete = (sizes: Row, begin: Row, open: ReadonlySet<string>, draw: () => number): Row => {
  const row = new Map(begin)
  for (const name of Draws.shuffled([...sizes.keys()], draw)) {
    if (row.has(name)) continue
    const gains = Array.from({ length: sizes.get(name) ?? 0 }, (_, value) => {
      const pairs = [...row].filter(([other, at]) => open.has(pairOf(name, value, other, at)))
      // Draws one of several equally good values.
      return pairs.length + draw()
    })
    row.set(name, gains.indexOf(Math.max(...gains)))
  }
  return row
}

/** Returns rows that together contain every pair of values of two dimensions. */
const cover = (sizes: Row, draw: () => number): ReadonlyArray<Row> => {
  const names = [...sizes.keys()]
  const open = new Map<string, Row>()
  for (const [index, first] of names.entries()) {
    for (const second of names.slice(index + 1)) {
      for (let value = 0; value < (sizes.get(first) ?? 0); value++) {
        for (let other = 0; other < (sizes.get(second) ?? 0); other++) {
          const row = new Map([[first, value] as const, [second, other] as const])
          open.set(pairOf(first, value, second, other), row)
        }
      }
    }
  }
  const rows: Array<Row> = []
  const isOpen = new Set(open.keys())
  for (const begin of Draws.shuffled([...open.values()], draw)) {
    const [[first, value] = ["", 0], [second, other] = ["", 0]] = begin
    if (!isOpen.has(pairOf(first, value, second, other))) continue
    const row = complete(sizes, begin, isOpen, draw)
    rows.push(row)
    for (const [a, at] of row) for (const [b, bt] of row) isOpen.delete(pairOf(a, at, b, bt))
  }
  return rows
}

/** Draws the variants of a seed; the first variants contain most of the pairs. */
export const of = (seed: number): ReadonlyArray<Variant> => {
  const sizes = new Map(Object.entries(Choices.values).map(([name, all]) => [name, all.length]))
  return cover(sizes, Draws.make(seed)).map((row, index) => ({
    id: `${seed}.${index}`,
    choices: Choices.choose((name) => row.get(name) ?? 0)
  }))
}

/** Returns the choices of a variant that differ from those of an ordinary server, as text. */
export const describe = ({ choices }: Variant): string =>
  Object.entries(choices)
    .filter(([name, value]) => value !== Reflect.get(Choices.defaults, name))
    .map(([name, value]) => `${name}: ${value instanceof RegExp ? value : show(value)}`)
    .join(", ")

const show = (value: unknown): string => {
  const text = JSON.stringify(value, (_, each) => (typeof each === "bigint" ? String(each) : each))
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
