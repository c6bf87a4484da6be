/** The console: signs in, asks the admin API, and shows its views. */
import { activity } from "./activity.js"
import { keys } from "./keys.js"
import { html, nothing, render } from "./lit-html.js"
import { events } from "./parts.js"

const TOKEN = "admin token"
const POLL_MS = 5_000

/** @type {Readonly<Record<string, { title: string, make: (app: import("./parts.js").App) => View }>>} */
const views = {
  keys: { title: "Keys", make: keys },
  activity: { title: "Last hour", make: activity },
  events: { title: "Events", make: events }
}

/** @typedef {{ readonly load: () => Promise<any>, readonly show: (values: any) => unknown }} View */

/** @type {{ name: string, view: View, values?: any, document?: any, problem: string, said: string }} */
let state

/** The number of the latest renewal. */
let latest = 0

/**
 * Sends a request to the admin API with the token of this tab.
 *
 * @param {string} method
 * @param {string} path
 * @param {object} [body]
 * @returns {Promise<any>}
 */
const api = async (method, path, body) => {
  const headers = {
    Authorization: `Bearer ${sessionStorage.getItem(TOKEN)}`,
    ...(body && { "Content-Type": "application/json" })
  }
  const sent = fetch(`admin/v1${path}`, { method, headers, body: body ? JSON.stringify(body) : null })
  const response = await sent.catch(() => {
    throw new Error("The server does not respond.")
  })
  const json = await response.json().catch(() => ({}))
  if (response.ok) return json
  if (response.status === 401) sessionStorage.removeItem(TOKEN)
  throw new Error(json.message ?? `The server responded with ${response.status}.`)
}

/** Renews the values of the view; if that fails, it keeps the earlier ones. */
const update = async () => {
  if (sessionStorage.getItem(TOKEN) === null) return
  const mine = ++latest
  const load = async () => {
    const document = state.document ?? (await api("GET", "/../openapi.json"))
    return { document, values: await state.view.load(), problem: "" }
  }
  const renewed = await load().catch(({ message }) => ({ problem: message }))
  // The response to an earlier filter may arrive later.
  if (mine !== latest) return
  state = { ...state, ...renewed }
  draw()
}

const app = {
  api,
  update,
  draw: () => draw(),
  document: () => state.document,
  say: (/** @type {string} */ said) => {
    state = { ...state, said }
  }
}

/** Opens the view that the address names. */
const open = () => {
  const named = location.hash.slice(1)
  const name = Object.hasOwn(views, named) ? named : (state?.name ?? "keys")
  if (name === state?.name) return
  const view = /** @type {typeof views[string]} */ (views[name]).make(app)
  state = { ...state, name, view, values: undefined, problem: "", said: "" }
  draw()
  return update()
}

/** @param {SubmitEvent} event */
const signIn = (event) => {
  event.preventDefault()
  const [token] = new FormData(/** @type {HTMLFormElement} */ (event.target)).values()
  sessionStorage.setItem(TOKEN, String(token))
  return update()
}

const signOut = () => {
  sessionStorage.removeItem(TOKEN)
  location.reload()
}

const draw = () => {
  const isSignedIn = sessionStorage.getItem(TOKEN) !== null
  const { title } = /** @type {typeof views[string]} */ (views[state.name])
  document.title = `${isSignedIn ? title : "Sign in"} · Animal Store`
  render(isSignedIn ? page(title) : signInForm(), document.body)
}

const signInForm = () => html`
  <main>
    <form class="card sign-in" @submit=${signIn}>
      <h1>Animal Store console</h1>
      <p>
        Sign in with an admin token. <code>animal-store admin token</code> issues one.
        This tab keeps it until it is closed.
      </p>
      <label>Admin token
        <input id="token" name="token" type="password" placeholder="asa_…" pattern="asa_[A-Za-z0-9]+"
          autocomplete="off" required autofocus>
      </label>
      <p class="red" role="alert">${state.problem}</p>
      <button class="primary">Sign in</button>
    </form>
  </main>`

/** @param {string} title */
const page = (title) => html`
  <header class="row spread">
    <a class="skip" href="#main">Skip to content</a>
    <strong>Animal Store</strong>
    <nav aria-label="Views">
      ${Object.entries(views).map(
        ([name, view]) =>
          html`<a href="#${name}" aria-current=${name === state.name ? "page" : "false"}>${view.title}</a>`
      )}
    </nav>
    <button @click=${signOut}>Sign out</button>
  </header>
  <main id="main" tabindex="-1">
    <h1>${title}</h1>
    ${state.values === undefined ? nothing : state.view.show(state.values)}
  </main>
  <p class="toast" role="status">
    ${state.problem === "" ? state.said : `${state.problem} The page shows earlier values, and tries again.`}
  </p>`

const updateVisible = () => document.visibilityState === "visible" && update()
addEventListener("hashchange", open)
document.addEventListener("visibilitychange", updateVisible)
setInterval(updateVisible, POLL_MS)
// Countdowns show each second.
setInterval(draw, 1_000)
await open()
