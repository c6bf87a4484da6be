/** The console: signs in, asks the admin API, and shows its views. */
import { h, replace } from "./dom.js"
import { activity, events, keys } from "./views.js"

const TOKEN = "admin token"
const POLL_MS = 5_000

const views = {
  keys: { title: "Keys", make: keys },
  activity: { title: "Last hour", make: activity },
  events: { title: "Events", make: events }
}

const [header, main, toast] = /** @type {[HTMLElement, HTMLElement, HTMLElement]} */ ([
  ...document.querySelectorAll("header, main, .toast")
])

/** The refresh of the view that is shown. @type {(() => Promise<void>) | undefined} */
let refresh

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
  if (response.status === 401 && refresh) signOut("The token is no longer valid.")
  throw new Error(json.message ?? `The server responded with ${response.status}.`)
}

/** @param {string} text */
const say = (text) => {
  toast.textContent = text
}

const signOut = (reason = "") => {
  sessionStorage.removeItem(TOKEN)
  refresh = undefined
  document.title = "Sign in · Animal Store"
  header.replaceChildren()
  for (const dialog of document.querySelectorAll("dialog")) dialog.close()
  const input = h("input", {
    id: "token",
    type: "password",
    autocomplete: "off",
    required: true,
    placeholder: "asa_…"
  })
  const onsubmit = async (/** @type {Event} */ event) => {
    event.preventDefault()
    sessionStorage.setItem(TOKEN, input.value.trim())
    await api("GET", "/plans").then(open, ({ message }) => signOut(message))
  }
  const form = h(
    "form.card.sign-in",
    { onsubmit },
    h("h1", "Animal Store console"),
    h(
      "p",
      "Sign in with an admin token. ",
      h("code", "animal-store admin token"),
      " issues one. This tab keeps it until it is closed."
    ),
    h("label.field", "Admin token", input),
    h("p.error", { role: "alert" }, reason),
    h("button.primary", "Sign in")
  )
  replace(main, form)
  input.focus()
}

/** Renews the values of the view; if that fails, it keeps the earlier ones. */
const update = async () => {
  const isStale = await refresh?.().then(
    () => false,
    ({ message }) => {
      if (refresh) say(`${message} The page shows earlier values, and tries again.`)
      return true
    }
  )
  if (!isStale && document.body.classList.contains("stale")) say("")
  document.body.classList.toggle("stale", isStale && refresh !== undefined)
}

/** Shows the view that the address names. */
const open = async () => {
  if (sessionStorage.getItem(TOKEN) === null) return signOut()
  const name = /** @type {keyof typeof views} */ (
    Object.keys(views).find((view) => location.hash === `#${view}`) ?? "keys"
  )
  const { make, title } = views[name]
  document.title = `${title} · Animal Store`
  const links = Object.entries(views).map(([view, { title }]) =>
    h("a", { href: `#${view}`, ...(view === name && { "aria-current": "page" }) }, title)
  )
  const skip = (/** @type {Event} */ event) => {
    event.preventDefault()
    main.focus()
  }
  replace(
    header,
    h("a.skip", { href: "#main", onclick: skip }, "Skip to content"),
    h("strong", "Animal Store"),
    h("nav", { "aria-label": "Views" }, links),
    h("button.quiet", { onclick: () => signOut() }, "Sign out")
  )
  const view = make({ api, say, update })
  replace(main, h("h1", title), view.elements)
  refresh = view.refresh
  await update()
}

const updateVisible = () => document.visibilityState === "visible" && update()
addEventListener("hashchange", open)
document.addEventListener("visibilitychange", updateVisible)
setInterval(updateVisible, POLL_MS)
await open()
