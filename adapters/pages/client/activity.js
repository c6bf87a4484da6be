/** The view of the last hour: charts in steps of ten seconds, and the counts of each process. */
import { html, nothing, svg } from "./lit-html.js"
import { number, table } from "./parts.js"

/**
 * @typedef {import("../../embed/History.ts").Row} Counts
 * @typedef {Counts & { readonly from: number, readonly to: number }} Row
 * @typedef {(value: number | null) => string} Format
 * @typedef {{ readonly name: string, readonly color: string, readonly value: (row: Row) => number | null }} Series
 */

const [WIDTH, HEIGHT] = [480, 140]

/** Milliseconds that a chart shows at least, while the server is young. */
const SHORTEST = 600_000

/** The first boundary of the histogram of durations: shorter ones are not told apart. */
const FIRST_MS = 5

/** @param {Readonly<Record<string, number>>} counts */
const sum = (counts, isWanted = (/** @type {string} */ _key) => true) =>
  Object.entries(counts).reduce((all, [key, count]) => (isWanted(key) ? all + count : all), 0)

/** @param {string} unit @returns {Format} */
const format = (unit) => (value) => {
  if (value === null) return "–"
  return `${value >= 100 ? number(Math.round(value)) : Number(value.toPrecision(2))} ${unit}`.trim()
}

const milliseconds = format("ms")
const megabytes = format("MB")

/** @type {Format} */
const duration = (ms) => (ms !== null && ms <= FIRST_MS ? `< ${FIRST_MS} ms` : milliseconds(ms))

/** Rounds up to 1, 2 or 5 times a power of ten. @param {number} value */
const ceiling = (value) => {
  const power = 10 ** Math.floor(Math.log10(value))
  return power * ([1, 2, 5].find((step) => step * power >= value) ?? 10)
}

/** Statuses in classes; 429 is a class of its own. @type {ReadonlyArray<readonly [string, string, RegExp]>} */
const classes = [
  ["2xx", "green", /^[123]/],
  ["4xx", "amber", /^4(?!29)/],
  ["429", "violet", /^429/],
  ["5xx", "red", /^5/],
  ["disconnected", "gray", /^none/]
]

/** @type {ReadonlyArray<Series>} */
const requests = classes.map(([name, color, statuses]) => ({
  name,
  color,
  value: (row) => sum(row.requests, (status) => statuses.test(status)) / ((row.to - row.from) / 1_000)
}))

/**
 * Returns a series for each plan that has a count, or for the first plan.
 *
 * @param {ReadonlyArray<Row>} rows
 * @param {"limited" | "bans"} field
 */
const byPlan = (rows, field) => {
  const plans = [...new Set(rows.flatMap((row) => Object.keys(row[field])))]
  const countIn = (/** @type {string} */ plan) => (/** @type {Row} */ row) =>
    sum(row[field], (key) => key === plan)
  const used = plans.filter((plan) => rows.some((row) => countIn(plan)(row) > 0))
  const colors = ["violet", "blue", "amber", "green", "red", "gray"]
  return (used.length > 0 ? used : plans.slice(0, 1)).map((name, index) => ({
    name,
    color: colors[index % colors.length] ?? "gray",
    value: countIn(name)
  }))
}

/**
 * Creates the table of processes: their counts since their start, and the sum.
 *
 * @param {{ readonly workers: ReadonlyArray<Counts & { readonly worker: number }>, readonly total: Counts }} history
 */
const processes = ({ total, workers }) => {
  const row = (/** @type {string} */ name, /** @type {Counts} */ values) => [
    name,
    number(sum(values.requests)),
    number(sum(values.requests, (status) => status.startsWith("5"))),
    number(sum(values.limited)),
    number(sum(values.bans)),
    number(values.databaseCalls),
    duration(values.p50Ms),
    duration(values.p99Ms),
    milliseconds(values.databaseMs),
    megabytes(values.memoryBytes / 1e6)
  ]
  return table(
    "Processes",
    ["Process", "Requests", "5xx", "429", "Bans", "Database calls", "p50", "p99", "Call", "Memory"],
    [...workers.map((values) => row(`Process ${values.worker}`, values)), row("Sum", total)]
  )
}

/** @param {import("./parts.js").App} app */
export const activity = (app) => {
  /** The time of the row under the pointer, which all charts show instead of the last one. */
  let pointed = 0

  /**
   * @param {string} title
   * @param {Format} text shows a value with its unit
   * @param {ReadonlyArray<Row>} rows
   * @param {ReadonlyArray<Series>} series
   * @param {boolean} [isStacked] whether each series is an area on top of those before it, instead of a line
   */
  const chart = (title, text, rows, series, isStacked = false) => {
    const end = rows.at(-1)?.to ?? 0
    const start = Math.min(rows[0]?.from ?? end, end - SHORTEST)
    const shown = rows.find(({ to }) => to === pointed) ?? rows.at(-1)
    const xOf = (/** @type {number} */ time) => ((WIDTH * (time - start)) / (end - start)).toFixed(1)

    /** The height of each point of each series. */
    const tops = series.map(({ value }, index) =>
      rows.map((row) => {
        const below = isStacked ? series.slice(0, index) : []
        return below.reduce((top, other) => (top === null ? null : top + (other.value(row) ?? 0)), value(row))
      })
    )
    const max = ceiling(Math.max(...tops.flat().map(Number), 0) || 1)

    const path = (/** @type {ReadonlyArray<number | null>} */ heights) =>
      heights
        .map((top, at) => {
          if (top === null) return ""
          const isFirst = (heights[at - 1] ?? null) === null
          return `${isFirst ? "M" : "L"}${xOf(rows[at]?.to ?? 0)},${(HEIGHT * (1 - top / max)).toFixed(1)}`
        })
        .join("")
    const base = isStacked && rows[0] ? `V${HEIGHT}H${xOf(rows[0].to)}Z` : ""
    const paths = series.map(
      ({ color }, index) =>
        svg`<path class="${isStacked ? "area" : "line"} ${color}" d=${path(tops[index] ?? []) + base}></path>`
    )

    const point = (/** @type {any} */ { currentTarget, offsetX }) => {
      const time = start + (end - start) * (offsetX / currentTarget.clientWidth)
      pointed = rows.find(({ to }) => to >= time)?.to ?? 0
      app.draw()
    }
    const leave = () => {
      pointed = 0
      app.draw()
    }
    return html`
      <section class="card chart" aria-label=${title}>
        <div class="row spread">
          <h2>${title}</h2>
          <small>${shown?.to === pointed ? new Date(pointed).toLocaleTimeString() : "now"}</small>
        </div>
        <small>${rows.length > 0 ? text(max) : "The first values follow in ten seconds."}</small>
        <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true"
          @pointermove=${point} @pointerleave=${leave}>
          ${[0, HEIGHT / 2, HEIGHT].map((y) => svg`<line x2=${WIDTH} y1=${y} y2=${y}></line>`)}
          ${paths.reverse()}
          ${shown ? svg`<line class="cursor" x1=${xOf(shown.to)} x2=${xOf(shown.to)} y2=${HEIGHT}></line>` : nothing}
        </svg>
        <div class="row spread"><small>${Math.round((end - start) / 60_000)} min ago</small> <small>now</small></div>
        <ul class="row">
          ${series.map(
            ({ color, name, value }) =>
              html`<li><i class=${color}></i> ${name} <b>${text(shown ? value(shown) : null)}</b></li>`
          )}
        </ul>
      </section>`
  }

  return {
    load: () => app.api("GET", "/history"),
    /** @param {any} history */
    show: (history) => {
      const { rows } = history
      return html`
        <div class="grid">
          ${chart("Requests by status", format("/s"), rows, requests, true)}
          ${chart("Duration", duration, rows, [
            { name: "p50", color: "blue", value: ({ p50Ms }) => p50Ms },
            { name: "p99", color: "violet", value: ({ p99Ms }) => p99Ms }
          ])}
          ${chart("429 by plan, in 10 s", format(""), rows, byPlan(rows, "limited"), true)}
          ${chart("Bans by plan, in 10 s", format(""), rows, byPlan(rows, "bans"), true)}
          ${chart("Mean time of a database call", milliseconds, rows, [
            { name: "mean", color: "blue", value: ({ databaseMs }) => databaseMs }
          ])}
          ${chart("Memory of all processes", megabytes, rows, [
            { name: "resident", color: "green", value: ({ memoryBytes }) => memoryBytes / 1e6 }
          ])}
        </div>
        <h2>Since the start of each process, as /metrics</h2>
        <div class="figures">${processes(history)}</div>`
    }
  }
}
