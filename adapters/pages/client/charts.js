/** Draws the charts of the last hour, and the table of processes. */
import { h, number, scroller, svg, table } from "./dom.js"

/**
 * @typedef {import("../../embed/History.ts").Row} Counts
 * @typedef {Counts & { readonly from: number, readonly to: number }} Row
 * @typedef {{ readonly name: string, readonly color: string, readonly value: (row: Row) => number | null,
 *   readonly shown: (value: number | null) => string }} Series
 */

const [WIDTH, HEIGHT] = [480, 140]
/** The shortest and the longest time of a chart: it shows an hour, and less while the server is younger. */
const [SHORTEST, LONGEST] = [600_000, 3_600_000]

/** The first boundary of the histogram of durations: shorter ones are not told apart. */
const FIRST_MS = 5

/** @param {Readonly<Record<string, number>>} counts @param {RegExp} keys */
const sum = (counts, keys = /./) =>
  Object.entries(counts).reduce((all, [key, count]) => (keys.test(key) ? all + count : all), 0)

/** @param {string} unit @returns {(value: number | null) => string} */
const format = (unit) => (value) => {
  if (value === null) return "–"
  return `${value >= 100 ? number(Math.round(value)) : Number(value.toPrecision(2))} ${unit}`.trim()
}

const milliseconds = format("ms")
const megabytes = format("MB")

/** @param {number | null} ms */
const quantile = (ms) => (ms !== null && ms <= FIRST_MS ? `< ${FIRST_MS} ms` : milliseconds(ms))

/** Rounds up to 1, 2 or 5 times a power of ten. @param {number} value */
const ceiling = (value) => {
  const power = 10 ** Math.floor(Math.log10(value))
  return power * ([1, 2, 5].find((step) => step * power >= value) ?? 10)
}

/**
 * @param {string} title
 * @param {ReadonlyArray<Series>} series
 * @param {ReadonlyArray<Row>} rows
 * @param {number} now
 * @param {boolean} isStacked whether each series is an area on top of those before it, instead of a line
 */
const chart = (title, series, rows, now, isStacked) => {
  /** The height of each point of each series. */
  const tops = series.map(({ value }, index) =>
    rows.map((row) =>
      isStacked
        ? series.slice(0, index + 1).reduce((all, below) => all + (below.value(row) ?? 0), 0)
        : value(row)
    )
  )
  const max = ceiling(Math.max(0.01, ...tops.flat().map(Number)))
  const span = Math.min(LONGEST, Math.max(SHORTEST, now - (rows[0]?.from ?? now)))
  const xs = rows.map(({ to }) => WIDTH * (1 - (now - to) / span))
  const paths = series.map(({ color }, index) => {
    const points = (tops[index] ?? []).map((top, at) => {
      const isNew = (tops[index]?.[at - 1] ?? null) === null
      return top === null
        ? ""
        : `${isNew ? "M" : "L"}${xs[at]?.toFixed(1)},${(HEIGHT * (1 - top / max)).toFixed(1)}`
    })
    const base = isStacked && rows.length > 0 ? `V${HEIGHT}H${xs[0]?.toFixed(1)}Z` : ""
    return svg("path", { d: points.join("") + base, class: `${isStacked ? "area" : "line"} ${color}` })
  })
  const cursor = svg("line", { y1: 0, y2: HEIGHT, class: "cursor" })
  const graph = svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" },
    [0, HEIGHT / 2, HEIGHT].map((y) => svg("line", { x1: 0, x2: WIDTH, y1: y, y2: y })),
    paths.reverse(),
    rows.length > 0 && cursor
  )
  const legend = h("ul.row")
  const when = h("small")
  const last = rows.length - 1
  const show = (/** @type {number} */ at) => {
    const row = rows[at]
    const items = series.map(({ color, name, shown, value }) =>
      h("li", h(`i.${color}`), `${name} `, h("b", shown(row ? value(row) : null)))
    )
    legend.replaceChildren(...items)
    when.textContent = row ? (at === last ? "now" : new Date(row.to).toLocaleTimeString()) : "no data yet"
    for (const end of ["x1", "x2"]) cursor.setAttribute(end, String(xs[at]))
  }
  show(last)
  graph.addEventListener("pointermove", (event) => {
    const { left, width } = graph.getBoundingClientRect()
    const distances = xs.map((x) => Math.abs(x - ((event.clientX - left) / width) * WIDTH))
    show(distances.indexOf(Math.min(...distances)))
  })
  graph.addEventListener("pointerleave", () => show(last))
  return h(
    "section.card.chart",
    { "aria-label": title },
    h("div.row.spread", h("h2", title), when),
    h("small", rows.length > 0 ? series[0]?.shown(max) : "The first values follow in ten seconds."),
    graph,
    h("div.row.spread", h("small", `${Math.round(span / 60_000)} min ago`), h("small", "now")),
    legend
  )
}

/** Statuses in classes; 429 is a class of its own. @type {ReadonlyArray<readonly [string, string, RegExp]>} */
const classes = [
  ["2xx", "green", /^[123]/],
  ["4xx", "amber", /^4(?!29)/],
  ["429", "violet", /^429/],
  ["5xx", "red", /^5/],
  ["disconnected", "gray", /^none/]
]

/**
 * Creates the charts of rows of the admin API.
 *
 * @param {ReadonlyArray<Row>} rows
 * @param {number} now
 */
export const charts = (rows, now) => {
  const colors = ["violet", "blue", "amber", "green", "red", "gray"]
  const plans = [...new Set(rows.flatMap(({ bans, limited }) => Object.keys({ ...limited, ...bans })))]
  const used = plans.filter((plan) => rows.some(({ bans, limited }) => limited[plan] || bans[plan]))
  const byPlan = (/** @type {"limited" | "bans"} */ field) =>
    (used.length > 0 ? used : plans.slice(0, 1)).map((name, index) => ({
      name,
      color: colors[index % colors.length] ?? "gray",
      value: (/** @type {Row} */ row) => row[field][name] ?? 0,
      shown: format("")
    }))
  const requests = classes.map(([name, color, statuses]) => ({
    name,
    color,
    value: (/** @type {Row} */ row) => sum(row.requests, statuses) / ((row.to - row.from) / 1_000),
    shown: format("/s")
  }))
  /** @type {ReadonlyArray<readonly [string, ReadonlyArray<Series>, boolean]>} */
  const all = [
    ["Requests by status", requests, true],
    [
      "Duration",
      [
        { name: "p50", color: "blue", value: ({ p50Ms }) => p50Ms, shown: quantile },
        { name: "p99", color: "violet", value: ({ p99Ms }) => p99Ms, shown: quantile }
      ],
      false
    ],
    ["429 responses by plan, in 10 s", byPlan("limited"), true],
    ["Bans by plan, in 10 s", byPlan("bans"), true],
    [
      "Database, mean time of a call",
      [{ name: "mean", color: "blue", value: ({ databaseMs }) => databaseMs, shown: milliseconds }],
      false
    ],
    [
      "Memory of all processes",
      [{ name: "resident", color: "green", value: ({ memoryBytes }) => memoryBytes / 1e6, shown: megabytes }],
      false
    ]
  ]
  return all.map(([title, series, isStacked]) => chart(title, series, rows, now, isStacked))
}

/**
 * Creates the table of processes: their counts since their start, and the sum.
 *
 * @param {{ readonly workers: ReadonlyArray<Counts & { readonly worker: number }>, readonly total: Counts }} history
 */
export const processes = ({ total, workers }) => {
  const row = (/** @type {string} */ name, /** @type {Counts} */ values) => [
    name,
    number(sum(values.requests)),
    number(sum(values.requests, /^5/)),
    number(sum(values.limited)),
    number(sum(values.bans)),
    number(values.databaseCalls),
    quantile(values.p50Ms),
    quantile(values.p99Ms),
    milliseconds(values.databaseMs),
    megabytes(values.memoryBytes / 1e6)
  ]
  const columns = [
    "Process",
    "Requests",
    "5xx",
    "429",
    "Bans",
    "Database calls",
    "p50",
    "p99",
    "Call",
    "Memory"
  ]
  const rows = [...workers.map((values) => row(`Process ${values.worker}`, values)), row("Sum", total)]
  const element = scroller("Processes", table(columns, rows))
  element.classList.add("figures")
  return element
}
