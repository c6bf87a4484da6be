/** The view of keys: a list with filters, and a page for each key with its fields and actions. */
import { button, control } from "./actions.js"
import { html } from "./lit-html.js"
import { number, pager, recordTable, show, table, titleOf } from "./values.js"

/** @typedef {import("./console.js").App} App */

const fields = ["id", "label", "minute", "day", "states", "plan", "account", "lastSeenDay"]

/** The address of the keys that match these filters. @param {Iterable<[name: string, value: any]>} filters */
const addressOf = (filters) =>
  `#keys?${new URLSearchParams([...filters].filter(([, value]) => value !== ""))}`

/** Shows the keys that a form selects. @param {{ currentTarget: HTMLFormElement }} event */
const search = ({ currentTarget }) => location.replace(addressOf(new FormData(currentTarget)))

/** The number of keys with each state, and the filters of the operation. @param {App} app @param {any} counts */
const filters = (app, counts) => {
  const { cursor, ...query } = Object.fromEntries(new URLSearchParams(location.hash.split("?")[1]))
  const { state: shown = "all" } = query
  const state = (/** @type {[string, number]} */ [name, count]) => {
    const others = { ...query, state: name === "all" ? "" : name }
    return html`
      <a class="button ghost small" href=${addressOf(Object.entries(others))} aria-current=${name === shown}>
        ${titleOf(name)} <b>${number(count)}</b>
      </a>`
  }
  /** @type {ReadonlyArray<any>} */
  const parameters = app.document().paths["/keys"].get.parameters
  return html`
    <div class="hstack justify-between">
      <nav class="hstack" aria-label="States">${Object.entries(counts).map(state)}</nav>
      ${button(app, "issue")}
    </div>
    <form class="filters" @input=${search} @submit=${(/** @type {Event} */ event) => event.preventDefault()}>
      ${parameters
        .filter(({ name }) => name !== "cursor" && name !== "limit")
        .map(({ description, name, schema }) =>
          control(name, { ...schema, description, title: titleOf(name) }, query[name] ?? "")
        )}
    </form>`
}

/** @param {App} app @param {any} key */
const one = (app, key) => html`
  <div class="hstack justify-between">
    <h2>${key.label ?? key.id}</h2>
    <div class="hstack">
      ${
        key.revokedAt === null
          ? ["change", "rotate", "unban", "revoke"].map((name) => button(app, name, key))
          : "The key is revoked, which is final."
      }
    </div>
  </div>
  ${table(
    "Key",
    ["Field", "Value"],
    Object.keys(key).map((name) => [titleOf(name), show(name, key[name], key)])
  )}
  <a href="#events?key=${key.id}">Events of this key</a>`

/** @param {App} app @param {any} values a key, or a page of keys */
export const keys = (app, values) =>
  "id" in values
    ? one(app, values)
    : [filters(app, values.counts), recordTable("API keys", fields, values.keys), pager(values.next)]
