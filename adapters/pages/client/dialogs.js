/** The dialogs of the console: a key with its actions. Each says what it will do before it does it. */
import { h, replace, time } from "./dom.js"
import { badges, bar, eventTable, scroller } from "./parts.js"

/** @typedef {import("./views.js").App} App */

/**
 * Shows a modal dialog; it is removed when it closes.
 *
 * @param {string} title
 * @param {...any} content
 */
export const dialog = (title, ...content) => {
  const id = `dialog-${document.querySelectorAll("dialog").length}`
  const element = h(
    "dialog",
    { "aria-labelledby": id, onclose: () => element.remove() },
    h(
      "div.title",
      {},
      h("h2", { id }, title),
      h("button.quiet", { "aria-label": "Close", onclick: () => element.close() }, "✕")
    ),
    ...content
  )
  document.body.append(element)
  element.showModal()
  return element
}

/** @param {string} name @param {string} label @param {Record<string, any>} properties @param {string} [hint] */
const field = (name, label, properties = {}, hint) =>
  h(
    "div.field",
    {},
    h("label", { for: name }, label),
    properties.options
      ? h("select", { id: name, name }, ...properties.options)
      : h("input", {
          id: name,
          name,
          autocomplete: "off",
          ...properties,
          ...(hint && { "aria-describedby": `${name}-hint` })
        }),
    hint && h("p.hint", { id: `${name}-hint` }, hint)
  )

/**
 * Shows a form that performs an action.
 *
 * @param {string} title
 * @param {string} consequence what the action does
 * @param {ReadonlyArray<any>} fields
 * @param {string} verb
 * @param {(values: Record<string, string>) => Promise<any>} perform
 * @param {string} [kind]
 */
const form = (title, consequence, fields, verb, perform, kind = "primary") => {
  const error = h("p.error", { role: "alert" })
  const button = h(`button.${kind}`, {}, verb)
  const onsubmit = async (/** @type {any} */ event) => {
    event.preventDefault()
    button.disabled = true
    try {
      const values = Object.fromEntries(
        [...new FormData(event.target)].map(([name, value]) => [name, String(value).trim()])
      )
      await perform(values)
      element.close()
    } catch (failure) {
      error.textContent = failure instanceof Error ? failure.message : String(failure)
      button.disabled = false
    }
  }
  const element = dialog(
    title,
    h(
      "form",
      { onsubmit },
      h("p", {}, consequence),
      ...fields,
      error,
      h("div.buttons", {}, h("button", { type: "button", onclick: () => element.close() }, "Cancel"), button)
    )
  )
}

/**
 * Shows a secret once.
 *
 * @param {{ readonly id: string, readonly plan: string, readonly key: string, readonly oldKeyExpiresAt: number | null }} issued
 */
const showSecret = ({ id, key, oldKeyExpiresAt, plan }) => {
  const copied = h("span.muted", { role: "status" })
  const copy = async () => {
    await navigator.clipboard.writeText(key).catch(() => getSelection()?.selectAllChildren(secret))
    copied.textContent = "Copied."
  }
  const secret = h("code.secret", {}, key)
  const element = dialog(
    "The secret, shown only now",
    h(
      "p",
      {},
      `The ${plan} key ${id}. The database stores only its SHA-256: copy the secret before you close this.`
    ),
    secret,
    oldKeyExpiresAt !== null && h("p", {}, "The old secret works until ", time(oldKeyExpiresAt), "."),
    h(
      "div.buttons",
      {},
      copied,
      h("button", { onclick: () => element.close() }, "Done"),
      h("button.primary", { onclick: copy }, "Copy")
    )
  )
}

/** Returns the fields that are not empty, with numbers as such. @param {Record<string, string>} values */
const given = (values) =>
  Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== "")
      .map(([name, value]) => [name, /^per/.test(name) ? Number(value) : value])
  )

const LATER = "Other processes of the service apply it within five seconds (--key-cache)."

/** @param {App} app */
export const keyDialogs = ({ api, say, update }) => {
  const options = async (/** @type {string} */ selected) =>
    (await api("GET", "/plans")).map((/** @type {any} */ { limits, name }) =>
      h(
        "option",
        { value: name, selected: name === selected },
        limits === null
          ? `${name} (limits below)`
          : `${name}: ${limits.perMinute} a minute, ${limits.perDay} a day`
      )
    )
  const limits = () => [
    field("perMinute", "Requests a minute", { type: "number", min: 1, placeholder: "of the plan" }),
    field("perDay", "Requests a day", { type: "number", min: 1, placeholder: "of the plan" })
  ]
  const done = async (/** @type {string} */ text) => {
    say(text)
    await update()
  }

  const issue = async () =>
    form(
      "Issue a key",
      "Creates a key that works immediately. Its secret is shown once.",
      [
        field("plan", "Plan", { options: await options("Free") }),
        h("div.pair", {}, ...limits()),
        field("label", "Label", { maxLength: 255 }, "A name for operators, never sent to clients."),
        field("account", "Account", { maxLength: 255 }),
        field("expires", "Expires in", { placeholder: "never" }, "Such as 12h or 90d.")
      ],
      "Issue key",
      async (values) => {
        const issued = await api("POST", "/keys", given(values))
        showSecret(issued)
        await done(`Issued ${issued.id}.`)
      }
    )

  const open = async (/** @type {string} */ id) => {
    const content = h("div")
    const element = dialog(id, content)
    element.classList.add("side")
    const refresh = async () => {
      const [key, { events }] = await Promise.all([
        api("GET", `/keys/${id}`),
        api("GET", `/events?key=${id}&limit=20`)
      ])
      const isRevoked = key.revokedAt !== null
      const act =
        (
          /** @type {string} */ title,
          /** @type {string} */ text,
          /** @type {any[]} */ fields,
          /** @type {string} */ verb,
          /** @type {string} */ past,
          /** @type {(values: any) => Promise<any>} */ perform,
          kind = "primary"
        ) =>
        () =>
          form(
            title,
            text,
            fields,
            verb,
            async (values) => {
              await perform(values)
              await done(`${past} ${id}.`)
              await refresh()
            },
            kind
          )
      const set = async () =>
        act(
          "Change the key",
          `Changes the fields that you fill in. Its secrets and its usage stay: a lower limit applies at the next request, a higher one does not refill the minute. ${LATER}`,
          [
            field("plan", "Plan", {
              options: [h("option", { value: "" }, `Unchanged: ${key.plan}`), ...(await options(""))]
            }),
            h("div.pair", {}, ...limits()),
            field("label", "Label", { placeholder: key.label ?? "none" }),
            field("account", "Account", { placeholder: key.account ?? "none" }),
            field(
              "expires",
              "Expires in",
              { placeholder: "unchanged" },
              "Such as 90d; 0 for immediately; never."
            )
          ],
          "Change key",
          "Changed",
          (values) => api("PATCH", `/keys/${id}`, given(values))
        )()
      const rotate = act(
        "Rotate the key",
        "Issues a second secret, which is shown once. The old one works until the overlap ends; both share limits and bans.",
        [
          field("overlap", "Overlap", { value: "24h", required: true }, "Such as 0, 30m or 24h."),
          h(
            "label.check",
            {},
            h("input", { type: "checkbox", name: "force", value: "true" }),
            "End a secret that an earlier rotation left valid"
          )
        ],
        "Rotate key",
        "Rotated",
        async ({ force, overlap }) =>
          showSecret(await api("POST", `/keys/${id}/rotate`, { overlap, force: force === "true" }))
      )
      const unban = act(
        "Unban the key",
        "Lifts the ban and clears strikes, immediately in all processes. Requests that were counted stay counted.",
        [],
        "Unban key",
        "Unbanned",
        () => api("POST", `/keys/${id}/unban`)
      )
      const revoke = act(
        "Revoke the key",
        `Every further request with this key gets 401. This is final. ${LATER}`,
        [],
        "Revoke key",
        "Revoked",
        () => api("POST", `/keys/${id}/revoke`),
        "danger"
      )
      const facts = /** @type {ReadonlyArray<[string, any]>} */ ([
        ["State", badges(key)],
        ["Plan", `${key.plan}: ${key.limits.perMinute} a minute, ${key.limits.perDay} a day`],
        ["Left of the minute", bar("Minute", key.minute.remaining, key.minute.limit)],
        ["Left of the day", bar("Day", key.day.remaining, key.day.limit)],
        ["Strikes", key.strikes],
        ["Banned until", key.bannedUntil === null ? "not banned" : time(key.bannedUntil)],
        ["Label", key.label ?? "none"],
        ["Account", key.account ?? "none"],
        ["Metadata", key.metadata === null ? "none" : h("code", {}, JSON.stringify(key.metadata))],
        ["Created", time(key.createdAt)],
        ["Expires", time(key.expiresAt)],
        ["Last used", key.lastSeenDay ?? "never"],
        [
          "Secrets",
          h(
            "span",
            {},
            ...key.secrets.map((/** @type {any} */ { createdAt, expiresAt }) =>
              h(
                "span.change",
                {},
                "of ",
                time(createdAt),
                ...(expiresAt === null ? [] : [", until ", time(expiresAt)])
              )
            )
          )
        ]
      ])
      replace(
        content,
        h(
          "div.buttons.actions",
          {},
          ...(isRevoked
            ? [h("p.muted", {}, "The key is revoked, which is final.")]
            : [
                h("button.primary", { "data-focus": "set", onclick: set }, "Change…"),
                h("button", { "data-focus": "rotate", onclick: rotate }, "Rotate…"),
                h("button", { "data-focus": "unban", onclick: unban }, "Unban…"),
                h("button.danger", { "data-focus": "revoke", onclick: revoke }, "Revoke…")
              ])
        ),
        h("dl", {}, ...facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
        h("h3", {}, "Events"),
        scroller("Events of the key", eventTable(events))
      )
    }
    await refresh().catch((failure) => replace(content, h("p.error", { role: "alert" }, failure.message)))
    const timer = setInterval(
      () => (element.open ? void refresh().catch(() => undefined) : clearInterval(timer)),
      5_000
    )
  }

  return { issue, open }
}
