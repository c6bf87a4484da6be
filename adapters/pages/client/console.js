/** The console: signs in, asks the admin API, and shows what the address names. */
import { dialog, problem } from "./actions.js"
import { history } from "./history.js"
import { keys } from "./keys.js"
import { html, nothing, render } from "./lit-html.js"
import { pager, recordTable } from "./values.js"

/** @typedef {typeof app} App */
/** @typedef {{ readonly title: string, readonly show: (app: App, values: any) => unknown }} View */

const TOKEN = "admin token"
const POLL_MS = 5_000

/** The views, whose addresses after "#" are those of their values in the admin API. @type {Readonly<Record<string, View>>} */
const views = {
  keys: { title: "Keys", show: keys },
  history: { title: "Last hour", show: history },
  events: {
    title: "Events",
    show: (_, { events, next }) => [
      recordTable("Events", ["at", "actor", "action", "keyId", "changes"], events),
      pager(next)
    ]
  }
}

/** @type {{ view?: View | undefined, values?: any, document?: any, message: string }} */
let state = { message: "" }

/** The number of the latest update. */
let latest = 0

const isSignedIn = () => sessionStorage.getItem(TOKEN) !== null

/** Sends a request with the token. @type {(method: string, path: string, body?: object) => Promise<any>} */
const api = async (method, path, body) => {
  const headers = {
    Authorization: `Bearer ${sessionStorage.getItem(TOKEN)}`,
    ...(body && { "Content-Type": "application/json" })
  }
  const sent = fetch(`admin/${path}`, { method, headers, body: body ? JSON.stringify(body) : null })
  const response = await sent.catch(() => {
    throw new Error("The server does not respond.")
  })
  const json = await response.json().catch(() => ({}))
  if (response.ok) return json
  if (response.status === 401) sessionStorage.removeItem(TOKEN)
  throw new Error(json.message ?? `The server responded with ${response.status}.`)
}

/** Renews the values, and moves to the view that the address names; if that fails, it keeps the earlier ones. */
const update = async (message = "") => {
  if (!isSignedIn()) return draw()
  const mine = ++latest
  const address = location.hash.slice(1)
  const name = address.replace(/[/?].*/s, "")
  if (!Object.hasOwn(views, name)) return location.replace("#keys")
  const load = async () => ({
    document: state.document ?? (await api("GET", "openapi.json")),
    values: await api("GET", `v1/${address}`),
    view: views[name],
    message
  })
  const loaded = await load().catch((failure) => ({ message: failure.message }))
  // The response to an earlier filter may arrive later.
  if (mine !== latest) return
  state = { ...state, ...loaded }
  draw()
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
  const title = isSignedIn() ? (state.view?.title ?? "Console") : "Sign in"
  document.title = `${title} · Animal Store`
  render(isSignedIn() ? page(title) : signInForm(), document.body)
}

/** What the views use. */
const app = { api, document: () => state.document, draw, update }

const signInForm = () => html`
  <main class="container row p-4">
    <form class="card vstack col-4 offset-4" @submit=${signIn}>
      <h1>Animal Store console</h1>
      <p>
        Sign in with an admin token. <code>animal-store admin token</code> issues one.
        This tab keeps it until it is closed.
      </p>
      <label>Admin token
        <input id="token" name="token" type="password" placeholder="asa_…" pattern="asa_[A-Za-z0-9]+"
          autocomplete="off" required autofocus>
      </label>
      ${problem(state.message)}
      <button>Sign in</button>
    </form>
  </main>`

/** @param {string} title */
const page = (title) => html`
  <header>
    <nav data-topnav class="hstack" aria-label="Views">
      <strong>Animal Store</strong>
      ${Object.entries(views).map(
        ([name, view]) => html`
          <a class="button ${view === state.view ? "" : "ghost"}" href="#${name}"
            aria-current=${view === state.view ? "page" : "false"}>${view.title}</a>`
      )}
      <button class="outline small" @click=${signOut}>Sign out</button>
    </nav>
  </header>
  <main class="container vstack p-4" tabindex="-1">
    <h1>${title}</h1>
    ${state.view?.show(app, state.values) ?? nothing}
  </main>
  ${dialog(app)}
  <p class="toast-container" data-placement="bottom-right" role="status">${state.message && html`<span class="toast">${state.message}</span>`}</p>`

addEventListener("hashchange", async () => {
  await update()
  // The link that had the focus may be gone.
  if (document.activeElement === document.body) document.querySelector("main")?.focus({ preventScroll: true })
})
setInterval(() => document.visibilityState === "visible" && update(), POLL_MS)
// Countdowns show each second.
setInterval(draw, 1_000)
await update()
