/** Parses, combines and formats metrics in the Prometheus text format. */

/** One metric (a metric family in Prometheus): its comments, type and samples. */
export interface Family {
  /** The lines `# HELP` and `# TYPE`. */
  readonly comments: ReadonlyArray<string>
  /** `counter`, `gauge` or `histogram`; `untyped` without a `# TYPE` line. */
  readonly type: string
  /** The value of each series. The key is the text of its name and labels, such as `requests_total{plan="Free"}`. */
  readonly samples: ReadonlyMap<string, number>
}

/** All metrics of a page by name, in the order of the page. */
export type Exposition = ReadonlyMap<string, Family>

/** A page without metrics. */
export const empty: Exposition = new Map()

/** Parses a page of `store.metrics()`; lines in another form are ignored. */
export const parse = (text: string): Exposition => {
  const families = new Map<string, { comments: Array<string>; type: string; samples: Map<string, number> }>()
  let name = ""
  const familyOf = (named: string) => {
    const known = families.get(named)
    if (known !== undefined) return known
    const created = { comments: [], type: "untyped", samples: new Map<string, number>() }
    families.set(named, created)
    return created
  }
  for (const line of text.split("\n")) {
    const comment = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line)
    if (comment !== null) {
      const [, kind, named = "", rest = ""] = comment
      name = named
      const family = familyOf(name)
      family.comments.push(line)
      if (kind === "TYPE") family.type = rest
      continue
    }
    // Label values may contain spaces; the value of the sample follows the last space.
    const space = line.lastIndexOf(" ")
    if (space > 0 && !line.startsWith("#"))
      familyOf(name).samples.set(line.slice(0, space), valueOf(line.slice(space + 1)))
  }
  return families
}

/** Formats a page; omits metrics without samples. */
export const format = (families: Exposition): string => {
  let text = ""
  for (const { comments, samples } of families.values()) {
    if (samples.size === 0) continue
    for (const comment of comments) text += `${comment}\n`
    for (const [series, value] of samples) text += `${series} ${textOf(value)}\n`
  }
  return text
}

/** Adds two pages: sums the values of each series. A series on only one of the pages keeps its value. */
export const add = (first: Exposition, second: Exposition): Exposition => combine(first, second, 1)

/** Subtracts the values of an earlier page from those of a later one. */
export const subtract = (later: Exposition, earlier: Exposition): Exposition => combine(later, earlier, -1)

const combine = (first: Exposition, second: Exposition, sign: 1 | -1): Exposition => {
  const combined = new Map(first)
  for (const [name, family] of second) {
    const samples = new Map(combined.get(name)?.samples)
    for (const [series, value] of family.samples)
      samples.set(series, (samples.get(series) ?? 0) + sign * value)
    combined.set(name, { ...family, samples })
  }
  return combined
}

/** Returns the metrics that `isWanted` selects. */
export const filter = (
  families: Exposition,
  isWanted: (name: string, family: Family) => boolean
): Exposition => new Map([...families].filter(([name, family]) => isWanted(name, family)))

/** Adds a label to every series; its value must not require escaping. */
export const addLabel = (families: Exposition, label: string, value: string): Exposition =>
  new Map(
    [...families].map(([name, family]) => [
      name,
      {
        ...family,
        samples: new Map(
          [...family.samples].map(([series, sample]) => [withLabel(series, `${label}="${value}"`), sample])
        )
      }
    ])
  )

const withLabel = (series: string, pair: string): string => {
  const brace = series.indexOf("{")
  return brace < 0 ? `${series}{${pair}}` : `${series.slice(0, brace)}{${pair},${series.slice(brace + 1)}`
}

const valueOf = (text: string): number => {
  if (text === "+Inf") return Number.POSITIVE_INFINITY
  return text === "-Inf" ? Number.NEGATIVE_INFINITY : Number(text)
}

const textOf = (value: number): string => {
  if (value === Number.POSITIVE_INFINITY) return "+Inf"
  return value === Number.NEGATIVE_INFINITY ? "-Inf" : String(value)
}
