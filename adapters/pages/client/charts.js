/** Draws the charts of the last hour. */
import { h, number, svg } from "./dom.js"
import { scroller } from "./parts.js"

/**
 * @typedef {{ readonly from: number, readonly to: number, readonly requests: Record<string, number>,
 *   readonly limited: Record<string, number>, readonly bans: Record<string, number>, readonly p50Ms: number | null,
 *   readonly p99Ms: number | null, readonly databaseMs: number | null, readonly databaseCalls: number,
 *   readonly memoryBytes: number }} Row
 * @typedef {{ readonly name: string, readonly color: string, readonly value: (row: Row) => number | null,
 *   readonly shown?: (value: number) => string }} Series
 */

const WIDTH = 480
const HEIGHT = 140
const HOUR = 3_600_000
const SHORTEST = 600_000

/** @param {Record<string, number>} counts */
const sum = (counts) => Object.values(counts).reduce((all, count) => all + count, 0)

/** @param {number} value */
const ceiling = (value) => {
  const power = 10 ** Math.floor(Math.log10(value))
  return /** @type {number} */ ([1, 2, 5, 10].find((step) => step * power >= value)) * power
}

/** @param {Row} row */
const seconds = (row) => (row.to - row.from) / 1000

/** Statuses in classes; 429 is a class of its own. @type {ReadonlyArray<readonly [string, string, RegExp]>} */
const classes = [
  ["2xx", "green", /^[123]/],
  ["4xx", "amber", /^4(?!29)/],
  ["429", "violet", /^429/],
  ["5xx", "red", /^5/],
  ["disconnected", "gray", /^none/]
]

/** The first boundary of the histogram of durations: shorter ones are not told apart. */
const FIRST_MS = 5

/** @param {number | null} ms */
const quantile = (ms) => {
  if (ms === null) return "–"
  return ms <= FIRST_MS ? `< ${FIRST_MS} ms` : format(ms, "ms")
}

/** @param {number} value @param {string} unit */
const format = (value, unit) =>
  `${value >= 100 ? number(Math.round(value)) : Number(value.toPrecision(2))} ${unit}`.trim()

/**
 * @param {string} title
 * @param {string} unit
 * @param {ReadonlyArray<Series>} series
 * @param {ReadonlyArray<Row>} rows
 * @param {number} now
 * @param {boolean} isStacked
 */
const chart = (title, unit, series, rows, now, isStacked = false) => {
  const points = series.map(({ value }) => rows.map(value))
  const tops = points.map((_, index) =>
    rows.map((__, at) =>
      isStacked
        ? points.slice(0, index + 1).reduce((all, line) => all + (line[at] ?? 0), 0)
        : (points[index]?.[at] ?? null)
    )
  )
  const max = ceiling(Math.max(0.01, ...tops.flat().map((value) => value ?? 0)))
  // An hour; less while the server is younger.
  const span = Math.min(HOUR, Math.max(SHORTEST, now - (rows[0]?.from ?? now)))
  const x = (/** @type {Row} */ row) => WIDTH * (1 - (now - row.to) / span)
  const y = (/** @type {number} */ value) => HEIGHT * (1 - value / max)
  const lines = series.map(({ color }, index) => {
    let text = ""
    for (const [at, row] of rows.entries()) {
      const value = tops[index]?.[at]
      if (value === null || value === undefined) continue
      const isNew = text === "" || (tops[index]?.[at - 1] ?? null) === null
      text += `${isNew ? "M" : "L"}${x(row).toFixed(1)},${y(value).toFixed(1)}`
    }
    const [first, last] = [rows[0], rows.at(-1)]
    const area =
      isStacked && first && last
        ? `${text}L${x(last).toFixed(1)},${HEIGHT}L${x(first).toFixed(1)},${HEIGHT}Z`
        : text
    return svg("path", { d: area, class: `${isStacked ? "area" : "line"} ${color}` })
  })
  const cursor = svg("line", { y1: 0, y2: HEIGHT, class: "cursor" })
  const graph = svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" },
    ...[0, 0.5, 1].map((part) =>
      svg("line", { x1: 0, x2: WIDTH, y1: HEIGHT * part, y2: HEIGHT * part, class: "grid" })
    ),
    ...(isStacked ? lines.reverse() : lines),
    ...(rows.length === 0 ? [] : [cursor])
  )
  const values = (/** @type {number} */ at) =>
    series.map(({ color, name, shown = (value) => format(value, unit) }, index) => {
      const value = points[index]?.[at]
      return h(
        "li",
        {},
        h(`i.${color}`),
        `${name} `,
        h("b", {}, value === null || value === undefined ? "–" : shown(value))
      )
    })
  const legend = h("ul.legend")
  const when = h("span.when")
  const show = (/** @type {number} */ at) => {
    const row = rows[at]
    legend.replaceChildren(...values(at))
    when.textContent = row
      ? at === rows.length - 1
        ? "now"
        : new Date(row.to).toLocaleTimeString()
      : "no data yet"
    for (const end of ["x1", "x2"]) cursor.setAttribute(end, String(row ? x(row) : 0))
  }
  show(rows.length - 1)
  graph.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
    const box = graph.getBoundingClientRect()
    const at = ((event.clientX - box.left) / box.width) * WIDTH
    show(
      rows.reduce(
        (best, row, index) =>
          Math.abs(x(row) - at) < Math.abs(x(/** @type {Row} */ (rows[best])) - at) ? index : best,
        0
      )
    )
  })
  graph.addEventListener("pointerleave", () => show(rows.length - 1))
  return h(
    "section.card.chart",
    { "aria-label": title },
    h("h2", {}, title, when),
    h(
      "div.plot",
      {},
      h("span.max", {}, rows.length === 0 ? "The first values follow in ten seconds." : format(max, unit)),
      graph,
      h(
        "div.axis",
        { "aria-hidden": "true" },
        h("span", {}, `${Math.round(span / 60_000)} min ago`),
        h("span", {}, "now")
      )
    ),
    legend
  )
}

/**
 * Creates the charts of rows of the admin API.
 *
 * @param {ReadonlyArray<Row>} rows
 * @param {number} now
 */
export const charts = (rows, now) => {
  const plans = [
    ...new Set(rows.flatMap(({ bans, limited }) => [...Object.keys(limited), ...Object.keys(bans)]))
  ]
  const used = plans.filter((plan) =>
    rows.some(({ bans, limited }) => (limited[plan] ?? 0) + (bans[plan] ?? 0) > 0)
  )
  const colors = ["violet", "blue", "amber", "green", "red", "gray"]
  const byPlan = (/** @type {"limited" | "bans"} */ field) =>
    (used.length === 0 ? plans.slice(0, 1) : used).map((name, index) => ({
      name,
      color: colors[index % colors.length] ?? "gray",
      value: (/** @type {Row} */ row) => row[field][name] ?? 0
    }))
  return [
    chart(
      "Requests by status",
      "/s",
      classes.map(([name, color, pattern]) => ({
        name,
        color,
        value: (row) =>
          sum(Object.fromEntries(Object.entries(row.requests).filter(([status]) => pattern.test(status)))) /
          seconds(row)
      })),
      rows,
      now,
      true
    ),
    chart(
      "Duration",
      "ms",
      [
        { name: "p50", color: "blue", value: (row) => row.p50Ms, shown: quantile },
        { name: "p99", color: "violet", value: (row) => row.p99Ms, shown: quantile }
      ],
      rows,
      now
    ),
    chart("429 responses by plan, in 10 s", "", byPlan("limited"), rows, now, true),
    chart("Bans by plan, in 10 s", "", byPlan("bans"), rows, now, true),
    chart(
      "Database, mean time of a call",
      "ms",
      [{ name: "mean", color: "blue", value: (row) => row.databaseMs }],
      rows,
      now
    ),
    chart(
      "Memory of all processes",
      "MB",
      [{ name: "resident", color: "green", value: (row) => row.memoryBytes / 1e6 }],
      rows,
      now
    )
  ]
}

/**
 * Creates the table of processes: their counts since their start, and the sum.
 *
 * @param {{ readonly workers: ReadonlyArray<Row & { readonly worker: number }>, readonly total: Row }} history
 */
export const processes = ({ total, workers }) => {
  const row = (/** @type {string} */ name, /** @type {Row} */ values) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, name),
      ...[
        sum(values.requests),
        sum(Object.fromEntries(Object.entries(values.requests).filter(([status]) => /^5/.test(status)))),
        sum(values.limited),
        sum(values.bans),
        values.databaseCalls
      ].map((count) => h("td.number", {}, number(count))),
      ...[
        quantile(values.p50Ms),
        quantile(values.p99Ms),
        values.databaseMs === null ? "–" : format(values.databaseMs, "ms")
      ].map((text) => h("td.number", {}, text)),
      h("td.number", {}, format(values.memoryBytes / 1e6, "MB"))
    )
  return scroller(
    "Processes",
    h(
      "table",
      {},
      h("caption", {}, "Since the start of each process, as /metrics"),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          ...[
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
          ].map((name, index) => h(index === 0 ? "th" : "th.number", { scope: "col" }, name))
        )
      ),
      h("tbody", {}, ...workers.map((worker) => row(`Process ${worker.worker}`, worker)), row("Sum", total))
    )
  )
}
