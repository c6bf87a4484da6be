/** Shows the records of the admin API: a field as its name demands, and a list of records as a table. */
import { html, nothing } from "./lit-html.js"

/** @param {number} value */
export const number = (value) => value.toLocaleString("en", { maximumFractionDigits: 2 })

/** Turns the name of a field into a title: "lastSeenDay" into "Last seen day". @param {string} name */
export const titleOf = (name) => {
  const words = name.replace(/_|(?=[A-Z])/g, " ").toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** A time of epoch milliseconds in the zone of the browser, with that in UTC as its title. @param {number} ms */
const time = (ms) => html`<time title=${new Date(ms).toISOString()}>${new Date(ms).toLocaleString()}</time>`

/** How long it is until a time of epoch milliseconds: hours, minutes and seconds. @param {number} until */
const countdown = (until) => {
  const ms = Math.max(until - Date.now(), 0)
  return `${Math.floor(ms / 3_600_000)}:${new Date(ms).toISOString().slice(14, 19)}`
}

/** What is left of a window. @param {string} name @param {{ limit: number, remaining: number }} window */
const usage = (name, { limit, remaining }) => html`
  <meter aria-label="${name}: requests left" max=${limit} low=${limit * 0.2} optimum=${limit}
    value=${remaining}></meter>
  <small><b>${number(remaining)}</b> / ${number(limit)} left</small>`

/** The badges that draw attention. @type {Readonly<Record<string, string>>} */
const variants = { active: "success", near_limit: "warning", banned: "danger", revoked: "danger" }

/** @param {string} name a state of keys, or an action on them @param {any} [more] */
const badge = (name, more = nothing) =>
  html`<span class="badge" data-variant=${variants[name] ?? "secondary"}>${titleOf(name)} ${more}</span> `

/** Links to the page of a key. @param {string} id */
const link = (id) => html`<a href="#keys/${id}">${id}</a>`

/** How fields are shown that are more than a text or a number. @type {Readonly<Record<string, any>>} */
const special = {
  id: link,
  keyId: link,
  at: time,
  minute: (/** @type {any} */ value) => usage("Minute", value),
  day: (/** @type {any} */ value) => usage("Day", value),
  action: (/** @type {string} */ value) => badge(value),
  states: (/** @type {ReadonlyArray<string>} */ states, /** @type {any} */ { bannedUntil }) =>
    states.map((state) => badge(state, state === "banned" ? countdown(bannedUntil) : nothing)),
  changes: (/** @type {any} */ changes) =>
    Object.entries(changes).map(
      ([name, { from, to }]) =>
        html`<div><small>${titleOf(name)}</small> ${from === null ? nothing : html`${show(name, from)} →`} ${show(name, to)}</div>`
    ),
  metadata: (/** @type {any} */ value) =>
    html`<code>${typeof value === "string" ? value : JSON.stringify(value)}</code>`
}

/** Shows a field of a record. @type {(name: string, value: any, record?: object) => any} */
export const show = (name, value, record) => {
  if (value === null) return "none"
  if (Object.hasOwn(special, name)) return special[name](value, record)
  if (typeof value === "number") return /(?:At|Until)$/.test(name) ? time(value) : number(value)
  if (Array.isArray(value)) return value.map((item) => html`<div>${show(name, item)}</div>`)
  if (typeof value !== "object") return value
  return Object.entries(value).map(
    ([part, inner]) => html`<small>${titleOf(part)}</small> ${show(part, inner)} `
  )
}

/** A table that the keyboard can scroll. @type {(name: string, columns: string[], rows: any[][]) => unknown} */
export const table = (name, columns, rows) => html`
  <div class="card table" role="region" tabindex="0" aria-label=${name}>
    <table>
      <thead>
        <tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr>
      </thead>
      <tbody>
        ${rows.map(
          ([heading, ...cells]) =>
            html`<tr><th scope="row">${heading}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`
        )}
      </tbody>
    </table>
  </div>`

/** A table of these fields of records. @type {(name: string, fields: string[], records: any[]) => unknown} */
export const recordTable = (name, fields, records) =>
  table(
    name,
    fields.map(titleOf),
    records.map((record) => fields.map((field) => show(field, record[field], record)))
  )

/** Links to the next page of a list. @param {string | null} cursor */
export const pager = (cursor) => {
  if (cursor === null) return nothing
  const [path, query] = location.hash.split("?")
  const page = new URLSearchParams(query)
  page.set("cursor", cursor)
  return html`<a href="${path}?${page}">Older</a>`
}
