/** The view of the last hour: charts in steps of ten seconds, and the counts of each process. */
import { html, svg } from "./lit-html.js"
import { number, table } from "./parts.js"

/**
 * @typedef {import("../../embed/History.ts").Row} Counts
 * @typedef {import("../../embed/History.ts").History["rows"][number]} Row
 * @typedef {(value: number | null) => string} Format
 * @typedef {{ readonly name: string, readonly color: string, readonly value: (row: Row) => number | null }} Series
 */

const [WIDTH, HEIGHT] = [480, 140]

/** The first boundary of the histogram of durations: shorter ones are not told apart. */
const FIRST_MS = 5

/** @param {string} unit @returns {Format} */
const format = (unit) => (value) => {
  if (value === null) return "–"
  return `${value >= 100 ? number(Math.round(value)) : Number(value.toPrecision(2))} ${unit}`.trim()
}

const milliseconds = format("ms")
const megabytes = format("MB")

/** @type {Format} */
const duration = (ms) => (ms !== null && ms < FIRST_MS ? `< ${FIRST_MS} ms` : milliseconds(ms))

/** @param {number} ms */
const clock = (ms) => new Date(ms).toLocaleTimeString()

/** Adds the counts whose keys match. @param {Readonly<Record<string, number>>} counts */
const sum = (counts, keys = /./) =>
  Object.entries(counts).reduce((all, [key, count]) => (keys.test(key) ? all + count : all), 0)

/** Rounds up to 1, 2 or 5 times a power of ten. @param {number} value */
const ceiling = (value) => {
  const power = 10 ** Math.floor(Math.log10(value))
  return power * ([1, 2, 5].find((step) => step * power >= value) ?? 10)
}

/** Requests a second; 429 is a class of its own. @type {ReadonlyArray<Series>} */
const requests = /** @type {ReadonlyArray<[string, string, RegExp]>} */ ([
  ["2xx", "green", /^[123]/],
  ["4xx", "amber", /^4(?!29)/],
  ["429", "violet", /^429/],
  ["5xx", "red", /^5/],
  ["disconnected", "gray", /^none/]
]).map(([name, color, statuses]) => ({
  name,
  color,
  value: ({ from, requests, to }) => (sum(requests, statuses) * 1_000) / (to - from)
}))

/**
 * Returns a series for each plan that has a count.
 *
 * @param {ReadonlyArray<Row>} rows
 * @param {"limited" | "bans"} field
 * @returns {ReadonlyArray<Series>}
 */
const byPlan = (rows, field) => {
  const colors = ["violet", "blue", "amber", "green", "red", "gray"]
  const counted = rows.flatMap((row) => Object.entries(row[field]).filter(([, count]) => count > 0))
  return [...new Set(counted.map(([plan]) => plan))].map((name, index) => ({
    name,
    color: colors[index % colors.length] ?? "gray",
    value: (row) => new Map(Object.entries(row[field])).get(name) ?? 0
  }))
}

/**
 * Creates the table of processes: their counts since their start, and the sum.
 *
 * @param {{ readonly workers: ReadonlyArray<Counts & { readonly worker: number }>, readonly total: Counts }} history
 */
const processes = ({ total, workers }) =>
  table(
    "Processes",
    ["Process", "Requests", "5xx", "429", "Bans", "Database calls", "p50", "p99", "Call", "Memory"],
    [...workers, { worker: "Sum", ...total }].map((values) => [
      values.worker,
      number(sum(values.requests)),
      number(sum(values.requests, /^5/)),
      number(sum(values.limited)),
      number(sum(values.bans)),
      number(values.databaseCalls),
      duration(values.p50Ms),
      duration(values.p99Ms),
      milliseconds(values.databaseMs),
      megabytes(values.memoryBytes / 1e6)
    ])
  )

/** @param {import("./parts.js").App} app */
export const activity = (app) => {
  /** The number of the row under the pointer, which all charts show instead of the last one. */
  let pointed = -1

  const point = (/** @type {number} */ index) => {
    pointed = index
    app.draw()
  }

  /**
   * @param {string} title
   * @param {Format} text shows a value with its unit
   * @param {ReadonlyArray<Row>} rows at least one
   * @param {ReadonlyArray<Series>} series
   * @param {boolean} [isStacked] whether each series is an area on top of those before it, instead of a line
   */
  const chart = (title, text, rows, series, isStacked = false) => {
    const [first, last] = /** @type {[Row, Row]} */ ([rows[0], rows.at(-1)])
    const shown = rows.at(pointed) ?? last
    const xOf = (/** @type {Row} */ { to }) =>
      ((WIDTH * (to - first.from)) / (last.to - first.from)).toFixed(1)

    /** The height of each point of each series. */
    const tops = series.map(({ value }, index) => {
      const stacked = series.slice(0, index + 1)
      return rows.map((row) =>
        isStacked ? stacked.reduce((top, below) => top + Number(below.value(row)), 0) : value(row)
      )
    })
    const max = ceiling(Math.max(...tops.flat().map(Number), 0) || 1)
    const pathOf = (/** @type {ReadonlyArray<number | null>} */ heights) => {
      const points = rows.map((row, at) => {
        const top = heights[at] ?? null
        const command = (heights[at - 1] ?? null) === null ? "M" : "L"
        return top === null ? "" : `${command}${xOf(row)},${(HEIGHT * (1 - top / max)).toFixed(1)}`
      })
      return points.join("") + (isStacked ? `V${HEIGHT}H${xOf(first)}Z` : "")
    }
    const paths = series.map(({ color }, index) => {
      return svg`<path class="${isStacked ? "area" : "line"} ${color}" d=${pathOf(tops[index] ?? [])}></path>`
    })

    const move = (/** @type {any} */ { currentTarget, offsetX }) => {
      const x = (offsetX / currentTarget.clientWidth) * WIDTH
      point(rows.findIndex((row) => Number(xOf(row)) >= x))
    }
    return html`
      <section class="card chart" aria-label=${title}>
        <div class="row spread"><h2>${title}</h2> <small>${clock(shown.to)}</small></div>
        <small>${text(max)}</small>
        <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true"
          @pointermove=${move} @pointerleave=${() => point(-1)}>
          ${[0, HEIGHT / 2, HEIGHT].map((y) => svg`<line x2=${WIDTH} y1=${y} y2=${y}></line>`)}
          ${paths.reverse()}
          <line class="cursor" x1=${xOf(shown)} x2=${xOf(shown)} y2=${HEIGHT}></line>
        </svg>
        <div class="row spread"><small>${clock(first.from)}</small> <small>${clock(last.to)}</small></div>
        <ul class="row">
          ${series.map(
            ({ color, name, value }) =>
              html`<li><i class=${color}></i> ${name} <b>${text(value(shown))}</b></li>`
          )}
        </ul>
      </section>`
  }

  const charts = (/** @type {ReadonlyArray<Row>} */ rows) => [
    chart("Requests by status", format("/s"), rows, requests, true),
    chart("Duration", duration, rows, [
      { name: "p50", color: "blue", value: ({ p50Ms }) => p50Ms },
      { name: "p99", color: "violet", value: ({ p99Ms }) => p99Ms }
    ]),
    chart("429 by plan, in 10 s", format(""), rows, byPlan(rows, "limited"), true),
    chart("Bans by plan, in 10 s", format(""), rows, byPlan(rows, "bans"), true),
    chart("Mean time of a database call", milliseconds, rows, [
      { name: "mean", color: "blue", value: ({ databaseMs }) => databaseMs }
    ]),
    chart("Memory of all processes", megabytes, rows, [
      { name: "resident", color: "green", value: ({ memoryBytes }) => memoryBytes / 1e6 }
    ])
  ]

  return {
    load: () => app.api("GET", "/history"),
    /** @param {any} history */
    show: (history) => html`
      <div class="grid">
        ${history.rows.length > 0 ? charts(history.rows) : html`<p>The first values follow in ten seconds.</p>`}
      </div>
      <h2>Since the start of each process, as /metrics</h2>
      <div class="figures">${processes(history)}</div>`
  }
}
