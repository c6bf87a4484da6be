/** The view of the last hour: charts in steps of ten seconds, and the counts of each process. */
import { html, nothing, svg } from "./lit-html.js"
import { number, table } from "./values.js"

/**
 * @typedef {import("../../embed/History.ts").Row} Counts
 * @typedef {import("../../embed/History.ts").History["rows"][number]} Row
 * @typedef {Readonly<Record<string, number | null>>} Values
 */

/** The charts, with the values of their lines. @type {ReadonlyArray<[title: string, unit: string, read: (counts: Counts) => Values]>} */
const charts = [
  ["Requests by status", "", ({ requests }) => requests],
  ["Duration of requests", "ms", ({ p50Ms, p99Ms }) => ({ p50: p50Ms, p99: p99Ms })],
  ["429 by plan", "", ({ limited }) => limited],
  ["Bans by plan", "", ({ bans }) => bans],
  ["Duration of database calls", "ms", ({ databaseMs }) => ({ mean: databaseMs })],
  ["Memory", "MB", ({ memoryBytes }) => ({ resident: memoryBytes / 1e6 })]
]

/** A count that is absent is 0; null is no value. @param {Values | undefined} values @param {string} name */
const valueOf = (values, name) => {
  // The name of a plan can be that of a property of every object, such as "constructor".
  return values && Object.hasOwn(values, name) ? (values[name] ?? null) : 0
}

/** Names the lines, with their values. @param {Iterable<string>} names @param {Values | undefined} values @param {string} unit */
const legend = (names, values, unit) => html`
  <ul class="hstack unstyled">
    ${[...names].map((name) => {
      const value = valueOf(values, name)
      return html`<li>${name} <b>${value === null ? "–" : number(value)} ${unit}</b></li>`
    })}
  </ul>`

/** The number of the row under the pointer, which all charts show; -1 is the last one. */
let pointed = -1

/**
 * @param {import("./console.js").App} app
 * @param {ReadonlyArray<Row>} rows
 * @param {typeof charts[number]} chart
 */
const chart = (app, rows, [title, unit, read]) => {
  const points = rows.map(read)
  const names = [...new Set(points.flatMap(Object.keys))]
  const start = rows[0]?.from ?? 0
  const ends = rows.map(({ to }) => to - start)
  const [width, shown] = [Number(ends.at(-1)), Number(ends.at(pointed))]
  const height = Math.max(...points.flatMap(Object.values)) || 1

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
      <div class="flex justify-between">
        <small>${number(height)} ${unit}</small> <small>${new Date(start + shown).toLocaleTimeString()}</small>
      </div>
      <svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" aria-hidden="true"
        @pointermove=${move} @pointerleave=${() => point(-1)}>
        ${names.map((name) => svg`<path d=${path(name).join("")}></path>`)}
        <line x1=${shown} x2=${shown} y2=${height}></line>
      </svg>
      ${legend(names, points.at(pointed), unit)}
    </section>`
}

/** @param {import("./console.js").App} app @param {any} values */
export const history = (app, { rows, total, workers }) => html`
  <p>What happened in each ten seconds, in all processes.</p>
  <div class="row">${rows.length > 0 ? charts.map((each) => chart(app, rows, each)) : nothing}</div>
  <h2>Since the start of each process, as /metrics</h2>
  ${table(
    "Processes",
    ["Process", ...charts.map(([title]) => title)],
    [...workers, { worker: "Sum", ...total }].map((counts) => [
      counts.worker,
      ...charts.map(([, unit, read]) => legend(Object.keys(read(total)), read(counts), unit))
    ])
  )}`
