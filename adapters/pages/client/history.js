/** The view of the last hour: charts in steps of ten seconds, and the counts of each process. */
import { html, svg } from "./lit-html.js"
import { number, table } from "./values.js"

/**
 * @typedef {import("../../embed/History.ts").Row} Counts
 * @typedef {import("../../embed/History.ts").History["rows"][number]} Row
 * @typedef {Readonly<Record<string, number | null>>} Values
 */

/** @param {number | null} value @param {string} unit */
const figure = (value, unit) => (value === null ? "–" : `${number(value)} ${unit}`)

/** @param {number} ms */
const clock = (ms) => new Date(ms).toLocaleTimeString()

/** Adds the counts whose keys match. @param {Readonly<Record<string, number>>} counts */
const sum = (counts, keys = /./) =>
  Object.entries(counts).reduce((all, [key, value]) => (keys.test(key) ? all + value : all), 0)

/** The charts, with their lines. @type {ReadonlyArray<[title: string, unit: string, read: (row: Row) => Values]>} */
const charts = [
  ["Requests by status, in 10 s", "", ({ requests }) => requests],
  ["Duration of requests", "ms", ({ p50Ms, p99Ms }) => ({ p50: p50Ms, p99: p99Ms })],
  ["429 by plan, in 10 s", "", ({ limited }) => limited],
  ["Bans by plan, in 10 s", "", ({ bans }) => bans],
  ["Duration of database calls", "ms", ({ databaseMs }) => ({ mean: databaseMs })],
  ["Memory of all processes", "MB", ({ memoryBytes }) => ({ resident: memoryBytes / 1e6 })]
]

/** The columns of the table. @type {ReadonlyArray<[title: string, read: (counts: Counts) => string | number]>} */
const columns = [
  ["Requests", ({ requests }) => number(sum(requests))],
  ["5xx", ({ requests }) => number(sum(requests, /^5/))],
  ["429", ({ limited }) => number(sum(limited))],
  ["Bans", ({ bans }) => number(sum(bans))],
  ["Database calls", ({ databaseCalls }) => number(databaseCalls)],
  ["Database call", ({ databaseMs }) => figure(databaseMs, "ms")],
  ["p50", ({ p50Ms }) => figure(p50Ms, "ms")],
  ["p99", ({ p99Ms }) => figure(p99Ms, "ms")],
  ["Memory", ({ memoryBytes }) => figure(memoryBytes / 1e6, "MB")]
]

/** The number of the row under the pointer, which all charts show; -1 is the last one. */
let pointed = -1

/**
 * @param {import("./console.js").App} app
 * @param {ReadonlyArray<Row>} rows
 * @param {typeof charts[number]} chart
 */
const chart = (app, rows, [title, unit, read]) => {
  // Not objects: the name of a plan can be that of a property of every object, such as "constructor".
  const points = rows.map((row) => new Map(Object.entries(read(row))))
  const names = [...new Set(points.flatMap((point) => [...point.keys()]))]
  const start = rows[0]?.from ?? 0
  const ends = rows.map(({ to }) => to - start)
  const [width, shown] = [Number(ends.at(-1)), Number(ends.at(pointed))]
  const height = Math.max(...points.flatMap((point) => [...point.values()]).map(Number)) || 1

  /** A count that is absent is 0; null is no value. @param {Map<string, any>} [point] @param {string} [name] */
  const valueOf = (point = new Map(), name = "") => (point.has(name) ? point.get(name) : 0)

  /** A line, interrupted where there is no value. @param {string} name */
  const path = (name) => {
    let command = "M"
    return points.map((point, index) => {
      const value = valueOf(point, name)
      const step = value === null ? "" : `${command}${ends[index]},${height - value}`
      command = value === null ? "M" : "L"
      return step
    })
  }

  const point = (/** @type {number} */ index) => {
    pointed = index
    app.draw()
  }
  const move = (/** @type {any} */ { currentTarget, offsetX }) =>
    point(ends.findIndex((end) => end / width >= offsetX / currentTarget.clientWidth))
  return html`
    <section class="card col-4" aria-label=${title}>
      <h2>${title}</h2>
      <div class="flex justify-between"><small>${figure(height, unit)}</small> <small>${clock(start + shown)}</small></div>
      <svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" aria-hidden="true"
        @pointermove=${move} @pointerleave=${() => point(-1)}>
        ${names.map((name) => svg`<path d=${path(name).join("")}></path>`)}
        <line x1=${shown} x2=${shown} y2=${height}></line>
      </svg>
      <ul class="hstack unstyled">
        ${names.map((name) => html`<li>${name} <b>${figure(valueOf(points.at(pointed), name), unit)}</b></li>`)}
      </ul>
    </section>`
}

/** @param {import("./console.js").App} app @param {any} values */
export const history = (app, { rows, total, workers }) => html`
  <div class="row">
    ${rows.length > 0 ? charts.map((each) => chart(app, rows, each)) : "The first values follow in ten seconds."}
  </div>
  <h2>Since the start of each process, as /metrics</h2>
  ${table(
    "Processes",
    ["Process", ...columns.map(([title]) => title)],
    [...workers, { worker: "Sum", ...total }].map((counts) => [
      counts.worker,
      ...columns.map(([, read]) => read(counts))
    ])
  )}`
