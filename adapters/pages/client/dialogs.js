/** The dialogs of the console: a key with its actions. Each says what it will do before it does it. */
import { h, replace, scroller, time } from "./dom.js"
import { badges, eventTable, usage } from "./parts.js"

/** @typedef {import("./views.js").App} App */
/** @typedef {import("./parts.js").Key} Key */

/**
 * Shows a modal dialog; it is removed when it closes.
 *
 * @param {string} title
 * @param {...any} content
 */
const dialog = (title, ...content) => {
  const element = h(
    "dialog",
    { "aria-label": title, onclose: () => element.remove() },
    h(
      "div.row.spread",
      h("h2", title),
      h("button.quiet", { "aria-label": "Close", onclick: () => element.close() }, "✕")
    ),
    ...content
  )
  document.body.append(element)
  element.showModal()
  return element
}

/** @param {string} name @param {string} label @param {object} [properties] @param {string} [hint] */
const field = (name, label, properties = {}, hint) =>
  h(
    "label.field",
    label,
    h("input", { id: name, name, autocomplete: "off", maxLength: 255, ...properties }),
    hint && h("small", hint)
  )

/** @param {ReadonlyArray<any>} plans @param {Key} [key] */
const planAndLimits = (plans, key) => {
  const options = plans.map(({ limits, name }) =>
    h(
      "option",
      { value: name },
      limits === null
        ? `${name} (limits below)`
        : `${name}: ${limits.perMinute} a minute, ${limits.perDay} a day`
    )
  )
  const unchanged = key && h("option", { value: "" }, `Unchanged: ${key.plan}`)
  const limit = { type: "number", min: 1, placeholder: "of the plan" }
  return [
    h("label.field", "Plan", h("select", { id: "plan", name: "plan" }, unchanged, options)),
    h("div.pair", field("perMinute", "Requests a minute", limit), field("perDay", "Requests a day", limit))
  ]
}

/** Returns the fields that are not empty, with numbers as such. @param {Record<string, string>} values */
const given = (values) =>
  Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== "")
      .map(([name, value]) => [name, name.startsWith("per") ? Number(value) : value])
  )

const LATER = "Other processes of the service apply it within five seconds (--key-cache)."

/**
 * The actions: what each does, its fields, and its request, as the admin API has them.
 *
 * @type {Record<string, { readonly verb: string, readonly done: string, readonly does: string,
 *   readonly fields?: (plans: ReadonlyArray<any>, key: any) => any, readonly method?: string, readonly path?: string,
 *   readonly body?: (values: any) => object }>}
 */
const actions = {
  issue: {
    verb: "Issue",
    done: "Issued",
    does: "Creates a key that works immediately. Its secret is shown once.",
    fields: (plans) => [
      planAndLimits(plans),
      field("label", "Label", {}, "A name for operators, never sent to clients."),
      field("account", "Account"),
      field("expires", "Expires in", { placeholder: "never" }, "Such as 12h or 90d.")
    ],
    body: given
  },
  set: {
    verb: "Change",
    done: "Changed",
    does: `Changes the fields that you fill in. Its secrets and its usage stay: a lower limit applies at the next request, a higher one does not refill the minute. ${LATER}`,
    fields: (plans, key) => [
      planAndLimits(plans, key),
      field("label", "Label", { placeholder: key.label ?? "none" }),
      field("account", "Account", { placeholder: key.account ?? "none" }),
      field("expires", "Expires in", { placeholder: "unchanged" }, "Such as 90d; 0 for immediately; never.")
    ],
    method: "PATCH",
    body: given
  },
  rotate: {
    verb: "Rotate",
    done: "Rotated",
    does: "Issues a second secret, which is shown once. The old one works until the overlap ends; both share limits and bans.",
    fields: () => [
      field("overlap", "Overlap", { value: "24h", required: true }, "Such as 0, 30m or 24h."),
      h(
        "label.row",
        h("input", { type: "checkbox", name: "force" }),
        "End a secret that an earlier rotation left valid"
      )
    ],
    path: "/rotate",
    body: ({ force, overlap }) => ({ overlap, force: force === "on" })
  },
  unban: {
    verb: "Unban",
    done: "Unbanned",
    does: "Lifts the ban and clears strikes, immediately in all processes. Requests that were counted stay counted.",
    path: "/unban"
  },
  revoke: {
    verb: "Revoke",
    done: "Revoked",
    does: `Every further request with this key gets 401. This is final. ${LATER}`,
    path: "/revoke"
  }
}

/** @param {string} name */
const kindOf = (name) => (name === "revoke" ? "danger" : "primary")

/**
 * Shows the form of an action, and performs it.
 *
 * @param {App} app
 * @param {string} name
 * @param {Key} [key]
 * @param {() => Promise<void>} [done]
 */
export const act = async ({ api, say, update }, name, key, done) => {
  const action = /** @type {typeof actions[string]} */ (actions[name])
  const plans = action.fields ? await api("GET", "/plans") : []
  const error = h("p.error", { role: "alert" })
  const button = h(`button.${kindOf(name)}`, `${action.verb} key`)
  const onsubmit = async (/** @type {Event} */ event) => {
    event.preventDefault()
    button.disabled = true
    try {
      const values = [...new FormData(form)].map(([field, value]) => [field, String(value).trim()])
      const path = `/keys${key ? `/${key.id}` : ""}${action.path ?? ""}`
      const changed = await api(action.method ?? "POST", path, action.body?.(Object.fromEntries(values)))
      element.close()
      if ("key" in changed) showSecret(changed)
      say(`${action.done} ${changed.id}.`)
      await Promise.all([update(), done?.()])
    } catch (failure) {
      error.textContent = failure instanceof Error ? failure.message : String(failure)
      button.disabled = false
    }
  }
  const form = h(
    "form",
    { onsubmit },
    h("p", action.does),
    action.fields?.(plans, key),
    error,
    h("div.row.end", h("button", { type: "button", onclick: () => element.close() }, "Cancel"), button)
  )
  const element = dialog(`${action.verb} ${key ? "the" : "a"} key`, form)
}

/** @param {{ id: string, plan: string, key: string, oldKeyExpiresAt: number | null }} issued */
const showSecret = ({ id, key, oldKeyExpiresAt, plan }) => {
  const secret = h("code.secret", key)
  const copied = h("span", { role: "status" })
  const copy = async () => {
    await navigator.clipboard.writeText(key).catch(() => getSelection()?.selectAllChildren(secret))
    copied.textContent = "Copied."
  }
  const element = dialog(
    "The secret, shown only now",
    h(
      "p",
      `The ${plan} key ${id}. The database stores only its SHA-256: copy the secret before you close this.`
    ),
    secret,
    oldKeyExpiresAt !== null && h("p", "The old secret works until ", time(oldKeyExpiresAt), "."),
    h(
      "div.row.end",
      copied,
      h("button", { onclick: () => element.close() }, "Done"),
      h("button.primary", { onclick: copy }, "Copy")
    )
  )
}

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
  ["Metadata", key.metadata === null ? "none" : h("code", JSON.stringify(key.metadata))],
  ["Created", time(key.createdAt)],
  ["Expires", time(key.expiresAt)],
  ["Last used", key.lastSeenDay ?? "never"],
  [
    "Secrets",
    key.secrets.map(({ createdAt, expiresAt }) =>
      h("div", "of ", time(createdAt), expiresAt !== null && [", until ", time(expiresAt)])
    )
  ]
]

/** Shows a key with its events and its actions. @param {App} app @param {string} id */
export const openKey = async (app, id) => {
  const content = h("div.stack")
  const element = dialog(id, content)
  element.classList.add("side")
  const refresh = async () => {
    const [key, { events }] = await Promise.all([
      app.api("GET", `/keys/${id}`),
      app.api("GET", `/events?key=${id}&limit=20`)
    ])
    const buttons = ["set", "rotate", "unban", "revoke"].map((name) =>
      h(
        `button.${name === "set" ? "primary" : name === "revoke" ? "danger" : "plain"}`,
        { "data-focus": name, onclick: () => act(app, name, key, refresh) },
        `${actions[name]?.verb}…`
      )
    )
    replace(
      content,
      h("div.row", key.revokedAt === null ? buttons : h("p", "The key is revoked, which is final.")),
      h(
        "dl",
        facts(key).map(([name, value]) => h("div", h("dt", name), h("dd", value)))
      ),
      h("h2", "Events"),
      scroller("Events of the key", eventTable(events))
    )
  }
  await refresh().catch((failure) => replace(content, h("p.error", { role: "alert" }, failure.message)))
  const timer = setInterval(() => {
    if (element.open) refresh().catch(() => undefined)
    else clearInterval(timer)
  }, 5_000)
}
