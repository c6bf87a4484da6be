/** The view of keys: a list with filters, and a page for each key with its fields and actions. */
import { button, control } from "./actions.js"
import { html } from "./lit-html.js"
import { pager, recordTable, show, table, titleOf } from "./values.js"

/** @typedef {import("./console.js").App} App */

const fields = ["id", "label", "minute", "day", "states", "plan", "account", "lastSeenDay"]

/** Shows the keys that a form selects. @param {Event & { currentTarget: HTMLFormElement }} event */
const search = (event) => {
  event.preventDefault()
  const filters = [...new FormData(event.currentTarget)].filter(([, value]) => value !== "")
  location.replace(`#keys?${new URLSearchParams(/** @type {any} */ (filters))}`)
}

/** The filters of the operation. @param {App} app */
const filters = (app) => {
  const query = new URLSearchParams(location.hash.split("?")[1])
  /** @type {ReadonlyArray<any>} */
  const parameters = app.document().paths["/keys"].get.parameters
  return html`
    <form class="row" @input=${search} @submit=${search}>
      ${parameters
        .filter(({ name }) => name !== "cursor" && name !== "limit")
        .map(({ description, name, schema }) => {
          const choices = schema.enum && ["", ...schema.enum]
          const input = control(name, { ...schema, description, enum: choices }, query.get(name) ?? "")
          return html`<div class="col-3">${input}</div>`
        })}
    </form>
    <div>${button(app, "issue")}</div>`
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
    : [filters(app), recordTable("API keys", fields, values.keys), pager(values.next)]
