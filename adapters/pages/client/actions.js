/** The dialog of actions on keys. Its texts and fields are those of the OpenAPI document of the admin API. */
import { html, nothing } from "./lit-html.js"
import { titleOf } from "./values.js"

/**
 * What the dialog shows: an action, the key that it changes, and what became of it.
 *
 * @typedef {{ name: string, key?: any, problem?: string, issued?: any, isCopied?: boolean }} Shown
 * @typedef {import("./console.js").App} App
 */

/** The actions: what their buttons say, and their operations. @type {Readonly<Record<string, any>>} */
const actions = {
  issue: { verb: "Issue key", method: "post", path: "/keys" },
  change: { verb: "Change", method: "patch", path: "/keys/{id}" },
  rotate: { verb: "Rotate", method: "post", path: "/keys/{id}/rotate" },
  unban: { verb: "Unban", method: "post", path: "/keys/{id}/unban" },
  revoke: { verb: "Revoke", method: "post", path: "/keys/{id}/revoke", variant: "danger" }
}

/** The text of a value in its field, which has no line breaks. @param {any} value */
const textOf = (value) => {
  const text = typeof value === "object" && value !== null ? JSON.stringify(value) : String(value ?? "")
  return text.replace(/[\r\n]/g, "")
}

/** The value of a text in a field; an empty field removes a value. @param {any} schema @param {string} text */
const valueOf = ({ type }, text) => {
  if (text === "") return null
  return [type].flat().includes("string") ? text : JSON.parse(text)
}

/** @type {Readonly<Record<string, string>>} */
const inputs = { integer: "number", boolean: "checkbox" }

/** A control for a value of this schema; `text` is the value now. @param {string} name @param {any} schema @param {string} text */
export const control = (name, { description, enum: choices, type }, text) => {
  const input = choices
    ? html`<select name=${name}>
        ${[...new Set(choices).add(text)].map(
          (option) => html`<option .selected=${option === text}>${option}</option>`
        )}
      </select>`
    : html`<input name=${name} type=${inputs[type] ?? "text"} .value=${type === "boolean" ? "true" : text} autocomplete="off">`
  return html`<label>${titleOf(name)} ${input} <small>${description}</small></label>`
}

/** Shows why something failed. @param {string} [message] */
export const problem = (message) =>
  message ? html`<p role="alert" data-variant="danger">${message}</p>` : nothing

/** @type {Shown | undefined} */
let shown

const element = () => /** @type {HTMLDialogElement} */ (document.querySelector("dialog"))
const close = () => element().close()

/** Shows this in the dialog, which may have been closed while its action ran. @param {App} app @param {Shown} next */
const open = (app, next) => {
  shown = next
  app.draw()
  if (element()?.open === false) element().showModal()
}

/** @param {App} app @param {Shown} shown */
const form = (app, shown) => {
  const { isCopied, issued, key, name, problem: reason } = shown
  const { method, path, variant, verb } = actions[name]
  const { components, paths } = app.document()
  const { description, requestBody, summary } = paths[path][method]
  const schema = requestBody?.content["application/json"].schema.$ref.split("/").at(-1)
  const fields = components.schemas[schema]?.properties ?? {}
  const values = { ...key, ...key?.limits }
  const now = (/** @type {string} */ field) => textOf(values[field] ?? fields[field].default)

  const send = async (/** @type {HTMLFormElement} */ target) => {
    const edited = [...new FormData(target)].filter(([field, value]) => value !== now(field))
    const body = edited.map(([field, value]) => [field, valueOf(fields[field], String(value).trim())])
    const address = `v1${path.replace("{id}", key?.id)}`
    const result = await app.api(method.toUpperCase(), address, requestBody && Object.fromEntries(body))
    if ("key" in result) open(app, { name, issued: result })
    else close()
    await app.update(`Done: ${summary}.`)
  }

  const copy = async () => {
    await navigator.clipboard.writeText(issued.key)
    open(app, { ...shown, isCopied: true })
  }

  const submit = async (/** @type {any} */ event) => {
    event.preventDefault()
    event.submitter.disabled = true
    const done = issued ? copy() : send(event.target)
    await done.catch(({ message }) => open(app, { ...shown, problem: message }))
    event.submitter.disabled = false
  }

  return html`
    <form @submit=${submit}>
      <header>
        <h2>${summary}</h2>
        <p>${key?.id} ${key?.label}</p>
      </header>
      <div class="vstack">
        <p>${description}</p>
        ${
          issued
            ? html`<label>The secret of ${issued.id} <input class="secret" readonly value=${issued.key}></label>`
            : Object.entries(fields).map(([field, schema]) => control(field, schema, now(field)))
        }
        ${problem(reason)}
      </div>
      <footer>
        <button class="outline" type="button" @click=${close}>${issued ? "Done" : "Cancel"}</button>
        <button data-variant=${variant}>${issued ? (isCopied ? "Copied" : "Copy") : verb}</button>
      </footer>
    </form>`
}

/** A button that asks before an action. @param {App} app @param {string} name @param {any} [key] */
export const button = (app, name, key) => {
  const { variant, verb } = actions[name]
  const style = key ? "outline" : ""
  const ask = () => open(app, { name, key })
  return html`<button type="button" class=${style} data-variant=${variant} @click=${ask}>${verb}…</button>`
}

/** @param {App} app */
export const dialog = (app) => {
  const clear = () => {
    // The event can be late: the dialog may be open again.
    if (!element().open) shown = undefined
    app.draw()
  }
  return html`<dialog aria-label="Action" @close=${clear}>${shown ? form(app, shown) : nothing}</dialog>`
}
