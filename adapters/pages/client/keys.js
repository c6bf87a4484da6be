/** The view of keys: a list with filters, and a panel that shows one key with its actions and events. */
import { actionDialog, kindOf, verbs } from "./actions.js"
import { html, nothing } from "./lit-html.js"
import { badges, eventTable, number, pages, table, time, titles, usage } from "./parts.js"

/** @typedef {import("./parts.js").App} App */
/** @typedef {import("./parts.js").Key} Key */

const columns = [
  "Key",
  "Account",
  "Plan",
  "Left of the minute",
  "Left of the day",
  "State",
  "Last used (UTC)"
]

/** @param {Key} key @returns {ReadonlyArray<[string, any]>} */
const facts = (key) => [
  ["State", badges(key)],
  ["Plan", `${key.plan}: ${key.limits.perMinute} a minute, ${key.limits.perDay} a day`],
  ["Left of the minute", usage("Minute", key.minute)],
  ["Left of the day", usage("Day", key.day)],
  ["Strikes", key.strikes],
  ["Banned until", key.bannedUntil === null ? "not banned" : time(key.bannedUntil)],
  ["Label", key.label ?? "none"],
  ["Account", key.account ?? "none"],
  ["Metadata", key.metadata === null ? "none" : html`<code>${JSON.stringify(key.metadata)}</code>`],
  ["Created", time(key.createdAt)],
  ["Expires", time(key.expiresAt)],
  ["Last used", key.lastSeenDay ?? "never"],
  [
    "Secrets",
    key.secrets.map(
      ({ createdAt, expiresAt }) =>
        html`<p>of ${time(createdAt)}${expiresAt === null ? nothing : html`, until ${time(expiresAt)}`}</p>`
    )
  ]
]

/** @param {App} app */
export const keys = (app) => {
  const list = pages(app, "/keys")
  const { act, dialog } = actionDialog(app)
  /** The id of the key in the panel. @type {string | undefined} */
  let opened

  const open = (/** @type {string} */ id) => {
    opened = id
    app.draw()
    const panel = /** @type {HTMLDialogElement} */ (document.querySelector(".side"))
    panel.showModal()
    return app.update()
  }

  const row = (/** @type {Key} */ key) => [
    html`
      <button @click=${() => open(key.id)}>${key.label ?? key.id}</button>
      ${key.label === null ? nothing : html`<code>${key.id}</code>`}`,
    key.account ?? "–",
    html`<span class="badge">${key.plan}</span>`,
    usage("Minute", key.minute),
    usage("Day", key.day),
    badges(key),
    key.lastSeenDay ?? "never"
  ]

  /** @returns {ReadonlyArray<string>} */
  const plans = () => app.document().components.schemas.IssueKeyBody.properties.plan.enum

  const filters = (/** @type {Record<string, number>} */ counts) => html`
    <form @input=${list.search} @submit=${(/** @type {Event} */ event) => event.preventDefault()}>
      <div class="row spread">
        <fieldset class="row" aria-label="State">
          ${Object.entries(titles).map(
            ([state, title]) => html`
              <label>
                <input type="radio" name="state" value=${state === "all" ? "" : state} ?checked=${state === "all"}>
                ${title} <b>${number(counts[state] ?? 0)}</b>
              </label>`
          )}
        </fieldset>
        <button class="primary" type="button" @click=${() => act("issueKey")}>Issue key</button>
      </div>
      <div class="row">
        <input type="search" name="label" aria-label="Label or id" placeholder="Label or id">
        <input type="search" name="account" aria-label="Account" placeholder="Account">
        <select name="plan" aria-label="Plan">
          <option value="">All plans</option>
          ${plans().map((plan) => html`<option>${plan}</option>`)}
        </select>
      </div>
    </form>`

  const buttons = (/** @type {Key} */ key) =>
    Object.entries(verbs)
      .filter(([id]) => id !== "issueKey")
      .map(([id, verb]) => html`<button class=${kindOf(id)} @click=${() => act(id, key)}>${verb}…</button>`)

  /** @param {{ key: Key, events: ReadonlyArray<any> }} shown */
  const panel = ({ events, key }) => html`
    <div class="row">${key.revokedAt === null ? buttons(key) : "The key is revoked, which is final."}</div>
    <dl>${facts(key).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
    <h2>Events</h2>
    ${eventTable("Events of the key", events)}`

  return {
    load: async () => {
      const [page, key, log] = await Promise.all([
        list.load(),
        opened && app.api("GET", `/keys/${opened}`),
        opened && app.api("GET", `/events?key=${opened}&limit=20`)
      ])
      return { page, shown: key && { key, events: log.events } }
    },
    /** @param {any} values */
    show: ({ page, shown }) => html`
      ${filters(page.counts)}
      ${page.keys.length > 0 ? table("API keys", columns, page.keys.map(row)) : html`<p class="empty">No keys.</p>`}
      ${list.pager(page.next)}
      <dialog class="side" aria-label="Key ${opened}" @close=${() => {
        opened = undefined
      }}>
        <form class="row spread" method="dialog">
          <h2>${opened}</h2>
          <button aria-label="Close">✕</button>
        </form>
        ${shown && shown.key.id === opened ? panel(shown) : nothing}
      </dialog>
      ${dialog()}`
  }
}
