/** The parts that views share: lists in pages, tables, and values as people read them. */
import { html, nothing } from "./lit-html.js"

/**
 * What the views use of the console: `update` renews their values, `draw` shows them, and `document` returns the
 * OpenAPI document of the admin API.
 *
 * @typedef {{ readonly api: (method: string, path: string, body?: object) => Promise<any>,
 *   readonly document: () => any, readonly say: (text: string) => void,
 *   readonly update: () => Promise<void>, readonly draw: () => void }} App
 *
 * @typedef {ReturnType<typeof import("../../embed/KeyRecord.ts").withUsage> & { states: ReadonlyArray<string> }} Key
 */

/** @type {Readonly<Record<string, string>>} */
export const titles = {
  all: "All",
  active: "Active",
  near_limit: "Near limit",
  banned: "Banned",
  rotating: "Rotating",
  expired: "Expired",
  revoked: "Revoked"
}

const integers = new Intl.NumberFormat("en")
const times = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" })

/** @param {number} value */
export const number = (value) => integers.format(value)

/**
 * Shows a time of epoch milliseconds in the zone of the browser, and in UTC in its title.
 *
 * @param {number | null} ms
 */
export const time = (ms) => {
  if (ms === null) return "never"
  const utc = new Date(ms).toISOString()
  return html`<time datetime=${utc} title=${utc}>${times.format(ms)}</time>`
}

/** Shows how long it is until a time of epoch milliseconds. @param {number} until */
const countdown = (until) => {
  const ms = Math.max(until - Date.now(), 0)
  const days = Math.floor(ms / 86_400_000)
  return `${days > 0 ? `${days} d ` : ""}${new Date(ms).toISOString().slice(11, 19)}`
}

/** @param {Key} key */
export const badges = ({ bannedUntil, states }) =>
  states.map(
    (state) => html`
      <span class="badge ${state}">
        ${titles[state]} ${state === "banned" && bannedUntil !== null ? countdown(bannedUntil) : nothing}
      </span>`
  )

/**
 * Shows what is left of a window.
 *
 * @param {string} name
 * @param {{ readonly limit: number, readonly remaining: number }} window
 */
export const usage = (name, { limit, remaining }) => html`
  <meter aria-label="${name}: requests left" max=${limit} low=${limit * 0.2} optimum=${limit} value=${remaining}></meter>
  <small><b>${number(remaining)}</b> / ${number(limit)}</small>`

/**
 * Creates a table that the keyboard can scroll; the first cell of a row is its heading.
 *
 * @param {string} name
 * @param {ReadonlyArray<string>} columns
 * @param {ReadonlyArray<ReadonlyArray<any>>} rows
 */
export const table = (name, columns, rows) => html`
  <div class="card" role="region" tabindex="0" aria-label=${name}>
    <table>
      <thead>
        <tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr>
      </thead>
      <tbody>
        ${rows.map(
          ([heading, ...cells]) => html`
            <tr>
              <th scope="row">${heading}</th>
              ${cells.map((cell, index) => html`<td data-name=${columns[index + 1]}>${cell}</td>`)}
            </tr>`
        )}
      </tbody>
    </table>
  </div>`

/**
 * A list that the admin API returns in pages.
 *
 * @param {App} app
 * @param {string} path
 */
export const pages = ({ api, update }, path) => {
  /** @type {Readonly<Record<string, any>>} */
  let filter = {}
  /** The cursors of this page and of those before it. */
  let cursors = [""]
  const turn = (/** @type {Array<string>} */ to) => {
    cursors = to
    return update()
  }
  return {
    load: () => {
      const query = Object.entries({ ...filter, cursor: cursors.at(-1) ?? "", limit: "25" })
      return api("GET", `${path}?${new URLSearchParams(query.filter(([, value]) => value !== ""))}`)
    },
    /** Shows the first page of what a form selects. @param {{ currentTarget: HTMLFormElement }} event */
    search: ({ currentTarget }) => {
      filter = Object.fromEntries(new FormData(currentTarget))
      return turn([""])
    },
    /** @param {string | null} next the cursor of the next page */
    pager: (next) => html`
      <div class="row spread">
        ${cursors.length > 1 ? html`<button @click=${() => turn(cursors.slice(0, -1))}>Newer</button>` : nothing}
        ${next === null ? nothing : html`<button @click=${() => turn([...cursors, next])}>Older</button>`}
      </div>`
  }
}

/** Shows a value before and after an event. @param {[field: string, values: any]} change */
const change = ([field, { from, to }]) => {
  const text = (/** @type {any} */ value) =>
    typeof value === "number" && /(?:At|Until)$/.test(field) ? time(value) : (value ?? "none")
  return html`<span><small>${field}</small> ${from === null ? nothing : html`${text(from)} →`} ${text(to)}</span>`
}

/** @param {string} name @param {ReadonlyArray<any>} list */
export const eventTable = (name, list) =>
  table(
    name,
    ["Time", "Who", "Action", "Key", "Changes"],
    list.map(({ action, actor, at, changes, keyId }) => [
      time(at),
      actor,
      html`<span class="badge ${action}">${action}</span>`,
      html`<code>${keyId}</code>`,
      html`<div class="row">${Object.entries(changes).map(change)}</div>`
    ])
  )

/** The view of events. @param {App} app */
export const events = (app) => {
  const list = pages(app, "/events")
  return {
    load: list.load,
    show: (/** @type {any} */ page) => [
      page.events.length > 0
        ? eventTable("Events", page.events)
        : html`<p class="empty">Nothing is recorded.</p>`,
      list.pager(page.next)
    ]
  }
}
