/** The console: signs in, asks the admin API, and shows its views. */
import { h, replace } from "./dom.js"
import { activity, events, keys } from "./views.js"

const TOKEN = "admin token"
const POLL_MS = 5_000

/** A response other than success. */
export class Failure extends Error {
  /** @param {number} status @param {string} code @param {string} message */
  constructor(status, code, message) {
    super(message)
    this.status = status
    this.code = code
  }
}

const [header, main, toast] = /** @type {[HTMLElement, HTMLElement, HTMLElement]} */ ([
  ...document.querySelectorAll("header, main, .toast")
])

/**
 * Sends a request to the admin API with the token of this tab.
 *
 * @param {string} method
 * @param {string} path
 * @param {object} [body]
 * @returns {Promise<any>}
 */
const api = async (method, path, body) => {
  const response = await fetch(`admin/v1${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${sessionStorage.getItem(TOKEN) ?? ""}`,
      ...(body && { "Content-Type": "application/json" })
    },
    ...(body && { body: JSON.stringify(body) })
  }).catch(() => {
    throw new Failure(0, "unreachable", "The server does not respond.")
  })
  const json = await response.json().catch(() => ({}))
  if (response.ok) return json
  throw new Failure(
    response.status,
    json.code,
    json.message ?? `The server responded with ${response.status}.`
  )
}

/** @param {string} text */
const say = (text) => {
  toast.textContent = text
}

const views = {
  keys: { title: "Keys", make: keys },
  activity: { title: "Last hour", make: activity },
  events: { title: "Events", make: events }
}

/** The refresh of the view that is shown. @type {(() => Promise<void>) | undefined} */
let refresh

const signOut = (reason = "") => {
  sessionStorage.removeItem(TOKEN)
  refresh = undefined
  document.title = "Sign in · Animal Store"
  header.replaceChildren()
  const error = h("p.error", { role: "alert" }, reason)
  const input = h("input", {
    id: "token",
    type: "password",
    autocomplete: "off",
    required: true,
    placeholder: "asa_…",
    spellcheck: false
  })
  const form = h(
    "form.card.sign-in",
    {
      onsubmit: async (/** @type {Event} */ event) => {
        event.preventDefault()
        sessionStorage.setItem(TOKEN, input.value.trim())
        try {
          await api("GET", "/plans")
          await open()
        } catch (failure) {
          sessionStorage.removeItem(TOKEN)
          error.textContent = failure instanceof Error ? failure.message : String(failure)
        }
      }
    },
    h("h1", {}, "Animal Store console"),
    h(
      "p.muted",
      {},
      "Sign in with an admin token. ",
      h("code", {}, "animal-store admin token"),
      " issues one. This tab keeps it until it is closed."
    ),
    h("label", { for: "token" }, "Admin token"),
    input,
    error,
    h("button.primary", {}, "Sign in")
  )
  replace(main, form)
  input.focus()
}

const update = async () => {
  if (refresh === undefined) return
  try {
    await refresh()
    document.body.classList.remove("stale")
    if (toast.dataset.failure) say("")
    delete toast.dataset.failure
  } catch (failure) {
    if (failure instanceof Failure && failure.status === 401) return signOut("The token is no longer valid.")
    document.body.classList.add("stale")
    toast.dataset.failure = "true"
    say(
      `${failure instanceof Error ? failure.message : failure} The page shows earlier values, and tries again.`
    )
  }
}

/** Shows the view that the address names. */
const open = async () => {
  if (sessionStorage.getItem(TOKEN) === null) return signOut()
  const name = /** @type {keyof typeof views} */ (
    Object.keys(views).find((view) => location.hash === `#${view}`) ?? "keys"
  )
  document.title = `${views[name].title} · Animal Store`
  header.replaceChildren(
    h(
      "a.skip",
      {
        href: "#main",
        onclick: (/** @type {Event} */ event) => {
          event.preventDefault()
          main.focus()
        }
      },
      "Skip to content"
    ),
    h("strong.brand", {}, "Animal Store"),
    h(
      "nav",
      { "aria-label": "Views" },
      ...Object.entries(views).map(([view, { title }]) =>
        h("a", { href: `#${view}`, ...(view === name && { "aria-current": "page" }) }, title)
      )
    ),
    h("button.quiet", { onclick: () => signOut() }, "Sign out")
  )
  const view = views[name].make({ api, say, update })
  replace(main, h("h1", {}, views[name].title), ...view.elements)
  refresh = view.refresh
  await update()
}

addEventListener("hashchange", open)
setInterval(() => document.visibilityState === "visible" && update(), POLL_MS)
document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && update())
await open()
