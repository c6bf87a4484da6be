/** The view of the last hour: charts in steps of ten seconds, and the counts of each process. */
import { html, nothing, svg } from "./lit-html.js"
import { number, table } from "./values.js"

/**
 * @typedef {import("../../embed/History.ts").Row} Row
 * @typedef {Readonly<Record<string, number | null>>} Values
 */

/** The charts, with the values of their lines. @type {ReadonlyArray<[title: string, unit: string, read: (row: Row) => Values]>} */
const charts = [
  ["Requests by status", "", ({ requests }) => requests],
  ["Duration of requests", "ms", ({ p50Ms, p99Ms }) => ({ p50: p50Ms, p99: p99Ms })],
  ["429 by plan", "", ({ limited }) => limited],
  ["Bans by plan", "", ({ bans }) => bans],
  ["Duration of database calls", "ms", ({ databaseMs }) => ({ mean: databaseMs })],
  ["Memory", "MB", ({ memoryBytes }) => ({ resident: memoryBytes / 1e6 })]
]

/** A count that is absent is 0; null is no value. @param {Values} values @param {string} name */
const valueOf = (values, name) =>
  // The name of a plan can be that of a property of every object, such as "constructor".
  Object.hasOwn(values, name) ? (values[name] ?? null) : 0

/** Names the lines, with their values. @param {ReadonlyArray<string>} names @param {Values} values @param {string} unit */
const legend = (names, values, unit) => html`
  <ul class="hstack unstyled">
    ${names.map((name) => {
      const value = valueOf(values, name)
      return html`<li>${name} <b>${value === null ? "–" : number(value)} ${unit}</b></li>`
    })}
  </ul>`

/** @param {ReadonlyArray<Row & { from: number }>} rows @param {typeof charts[number]} chart */
const chart = (rows, [title, unit, read]) => {
  const points = rows.map(read)
  const names = [...new Set(points.flatMap(Object.keys))]
  const height = Math.max(...points.flatMap(Object.values)) || 1
  /** A line, interrupted where there is no value. @param {string} name */
  const line = (name) => {
    const values = points.map((point) => valueOf(point, name))
    const steps = values.map((value, index) =>
      value === null ? "" : `${values[index - 1] == null ? "M" : "L"}${index},${height - value}`
    )
    return svg`<path d=${steps.join("")}></path>`
  }
  return html`
    <section class="card col-4" aria-label=${title}>
      <h2>${title}</h2>
      <small>up to ${number(height)} ${unit} since ${new Date(rows[0]?.from ?? 0).toLocaleTimeString()}</small>
      <svg viewBox="0 0 ${rows.length - 1} ${height}" preserveAspectRatio="none" aria-hidden="true">
        ${names.map(line)}
      </svg>
      ${legend(names, points.at(-1) ?? {}, unit)}
    </section>`
}

/** @param {unknown} _ @param {any} values */
export const history = (_, { rows, total, workers }) => html`
  <p>What happened in each ten seconds, in all processes; the numbers are those of the last ones.</p>
  <div class="row">${rows.length > 0 ? charts.map((each) => chart(rows, each)) : nothing}</div>
  <h2>Since the start of each process, as /metrics</h2>
  ${table(
    "Processes",
    ["Process", ...charts.map(([title]) => title)],
    [...workers, { worker: "Sum", ...total }].map((counts) => [
      counts.worker,
      ...charts.map(([, unit, read]) => legend(Object.keys(read(total)), read(counts), unit))
    ])
  )}`
