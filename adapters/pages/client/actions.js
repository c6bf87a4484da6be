/** The dialog of actions on keys. It is made of the operations in the OpenAPI document of the admin API. */
import { html, nothing } from "./lit-html.js"
import { time } from "./parts.js"

/** @typedef {import("./parts.js").App} App */
/** @typedef {import("./parts.js").Key} Key */

/** What the buttons of the actions say, by operation. */
export const verbs = {
  issueKey: "Issue",
  setKey: "Change",
  rotateKey: "Rotate",
  unbanKey: "Unban",
  revokeKey: "Revoke"
}

/** @param {string} id */
export const kindOf = (id) => (id === "revokeKey" ? "red" : id === "setKey" ? "primary" : "")

/** Returns an operation with its method, its path and the schemas of its fields. @param {any} api @param {string} id */
const operation = ({ components, paths }, id) => {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { requestBody, ...rest }]) => {
      const schema = requestBody?.content["application/json"].schema.$ref.split("/").at(-1)
      return { ...rest, method: method.toUpperCase(), path, fields: components.schemas[schema]?.properties }
    })
  )
  return all.find(({ operationId }) => operationId === id)
}

/** @param {string} name @param {any} schema @param {any} value the value now, or `undefined` */
const field = (name, { description, enum: choices, title, type, ...schema }, value = schema.default) => {
  // The plan of a key can be one that this server does not know.
  const options = choices && new Set(value === undefined ? choices : [value, ...choices])
  const text = typeof value === "object" && value !== null ? JSON.stringify(value) : (value ?? "")
  const control = options
    ? html`<select name=${name}>
        ${[...options].map((option) => html`<option ?selected=${option === value}>${option}</option>`)}
      </select>`
    : html`<input name=${name} type=${inputs[type] ?? "text"} value=${text} autocomplete="off">`
  return html`<label>${title} ${control} ${description ? html`<small>${description}</small>` : nothing}</label>`
}

/** @type {Readonly<Record<string, string>>} */
const inputs = { integer: "number", boolean: "checkbox" }

/** Whether a control has another value than at first. @param {any} control */
const isChanged = ({ checked, defaultValue, options, type, value }) => {
  if (type === "checkbox") return checked
  const first = options ? [...options].find(({ defaultSelected }) => defaultSelected)?.value : defaultValue
  return value.trim() !== first
}

/** @param {any} schema @param {string} text */
const valueOf = ({ type }, text) => {
  if (type === "boolean") return true
  if (text === "") return null
  return type === "integer" || type.includes("object") ? JSON.parse(text) : text
}

/**
 * Creates the dialog.
 *
 * @param {App} app
 */
export const actionDialog = (app) => {
  /** @type {{ id?: string, key?: any, isSent?: boolean, problem?: string, issued?: any }} */
  let current = {}

  const show = (/** @type {typeof current} */ next) => {
    current = next
    app.draw()
    const dialog = /** @type {HTMLDialogElement | null} */ (document.querySelector("dialog.action"))
    if (next.id === undefined && next.issued === undefined) dialog?.close()
    else if (dialog?.open === false) dialog.showModal()
  }

  const submit = async (/** @type {any} */ event) => {
    event.preventDefault()
    const { id = "", key } = current
    try {
      const { fields, method, path } = operation(app.document(), id)
      const controls = [...event.target.elements].filter(({ name }) => name !== "").filter(isChanged)
      const body =
        fields &&
        Object.fromEntries(controls.map(({ name, value }) => [name, valueOf(fields[name], value.trim())]))
      show({ id, key, isSent: true })
      const changed = await app.api(method, path.replace("{id}", key?.id), body)
      app.say(`Done: ${id.replace("Key", "")} ${changed.id}.`)
      show("key" in changed ? { issued: changed } : {})
      await app.update()
    } catch (failure) {
      show({ id, key, problem: failure instanceof Error ? failure.message : String(failure) })
    }
  }

  const form = (/** @type {keyof typeof verbs} */ id) => {
    const { description, fields = {}, summary } = operation(app.document(), id)
    const values = { ...current.key, ...current.key?.limits }
    return html`
      <form @submit=${submit}>
        <h2>${summary}</h2>
        <p>${description}</p>
        ${Object.entries(fields).map(([name, schema]) => field(name, schema, values[name]))}
        <p class="red" role="alert">${current.problem}</p>
        <div class="row spread">
          <button type="button" @click=${() => show({})}>Cancel</button>
          <button class=${kindOf(id) || "primary"} ?disabled=${current.isSent}>${verbs[id]} key</button>
        </div>
      </form>`
  }

  return {
    /** Asks before an action. @param {string} id @param {Key} [key] */
    act: (id, key) => show({ id, key }),
    dialog: () => html`
      <dialog class="action" aria-label="Action" @close=${() => show({})}>
        ${current.id === undefined ? nothing : form(/** @type {keyof typeof verbs} */ (current.id))}
        ${current.issued === undefined ? nothing : secret(current.issued)}
      </dialog>`
  }
}

/** @param {{ id: string, plan: string, key: string, oldKeyExpiresAt: number | null }} issued */
const secret = ({ id, key, oldKeyExpiresAt, plan }) => {
  const copy = async (/** @type {any} */ { target }) => {
    const text = document.querySelector(".secret")
    await navigator.clipboard.writeText(key).catch(() => text && getSelection()?.selectAllChildren(text))
    target.textContent = "Copied"
  }
  return html`
    <form method="dialog">
      <h2>The secret, shown only now</h2>
      <p>The ${plan} key ${id}. The database stores only its SHA-256: copy the secret before you close this.</p>
      <code class="secret">${key}</code>
      ${oldKeyExpiresAt === null ? nothing : html`<p>The old secret works until ${time(oldKeyExpiresAt)}.</p>`}
      <div class="row spread">
        <button>Done</button>
        <button class="primary" type="button" @click=${copy}>Copy</button>
      </div>
    </form>`
}
