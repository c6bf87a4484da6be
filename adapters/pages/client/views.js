/** The views of the console: keys, the last hour, and events. */
import { charts, processes } from "./charts.js"
import { keyDialogs } from "./dialogs.js"
import { h, number, replace } from "./dom.js"
import { badges, bar, eventTable, scroller, titles } from "./parts.js"

/**
 * @typedef {{ readonly id: string, readonly plan: string, readonly label: string | null, readonly account: string | null,
 *   readonly limits: { readonly perMinute: number, readonly perDay: number }, readonly states: ReadonlyArray<string>,
 *   readonly metadata: object | null, readonly createdAt: number, readonly expiresAt: number | null,
 *   readonly revokedAt: number | null, readonly lastSeenDay: string | null, readonly strikes: number,
 *   readonly secrets: ReadonlyArray<{ readonly createdAt: number, readonly expiresAt: number | null }>,
 *   readonly minute: { readonly limit: number, readonly remaining: number, readonly fullAt: number },
 *   readonly day: { readonly limit: number, readonly used: number, readonly remaining: number, readonly endsAt: number },
 *   readonly bannedUntil: number | null }} Key
 * @typedef {{ readonly api: (method: string, path: string, body?: object) => Promise<any>,
 *   readonly say: (text: string) => void, readonly update: () => Promise<void> }} App
 */

/** @param {App} app */
export const keys = (app) => {
  const query = { state: "", label: "", plan: "", account: "" }
  /** The cursors of the pages before this one. @type {Array<string | undefined>} */
  let cursors = [undefined]
  const tabs = h("div.tabs", { role: "group", "aria-label": "State" })
  const table = scroller("API keys")
  const pager = h("div.pager")
  const plan = h(
    "select",
    { "aria-label": "Plan", onchange: () => filter("plan", plan.value) },
    h("option", { value: "" }, "All plans")
  )
  const { issue, open } = keyDialogs(app)
  const filter = (/** @type {keyof typeof query} */ name, /** @type {string} */ value) => {
    query[name] = value
    cursors = [undefined]
    void app.update()
  }
  const turn = (/** @type {Array<string | undefined>} */ pages) => {
    cursors = pages
    void app.update()
  }
  const row = (/** @type {Key} */ key) =>
    h(
      "tr",
      {},
      h(
        "th",
        { scope: "row" },
        h("button.link", { "data-focus": key.id, onclick: () => open(key.id) }, key.label ?? key.id),
        h("code.muted", {}, key.label === null ? "" : key.id)
      ),
      h("td", { "data-name": "Account" }, key.account ?? h("span.muted", {}, "–")),
      h("td", { "data-name": "Plan" }, h("span.plan", {}, key.plan)),
      h("td", { "data-name": "Left of the minute" }, bar("Minute", key.minute.remaining, key.minute.limit)),
      h("td", { "data-name": "Left of the day" }, bar("Day", key.day.remaining, key.day.limit)),
      h("td", { "data-name": "State" }, badges(key)),
      h("td.muted", { "data-name": "Last used" }, key.lastSeenDay ?? "never used")
    )
  let sent = 0
  return {
    elements: [
      h("div.bar-of-actions", {}, tabs, h("button.primary", { onclick: () => issue() }, "Issue key")),
      h(
        "div.filters",
        {},
        h("input", {
          type: "search",
          "aria-label": "Label or id",
          placeholder: "Label or id",
          oninput: (/** @type {any} */ event) => filter("label", event.target.value)
        }),
        h("input", {
          type: "search",
          "aria-label": "Account",
          placeholder: "Account",
          onchange: (/** @type {any} */ event) => filter("account", event.target.value)
        }),
        plan
      ),
      table,
      pager
    ],
    refresh: async () => {
      const turnOf = ++sent
      const given = Object.entries({ ...query, cursor: cursors.at(-1) ?? "", limit: "25" }).filter(
        ([, value]) => value !== ""
      )
      const [{ counts, keys: found, next }, plans] = await Promise.all([
        app.api("GET", `/keys?${new URLSearchParams(given)}`),
        plan.length > 1 ? [] : app.api("GET", "/plans")
      ])
      // The response to an earlier filter may arrive later.
      if (turnOf !== sent) return
      plan.append(...plans.map((/** @type {any} */ { name }) => h("option", { value: name }, name)))
      replace(
        tabs,
        ...Object.entries(titles).map(([state, title]) =>
          h(
            `button.tab.${state}`,
            {
              "data-focus": `tab ${state}`,
              "aria-pressed": query.state === state || (query.state === "" && state === "all"),
              onclick: () => filter("state", state === "all" ? "" : state)
            },
            title,
            h("b", {}, number(counts[state]))
          )
        )
      )
      replace(
        table,
        found.length === 0
          ? h("p.empty", {}, counts.all === 0 ? "No keys." : "No key has this state.")
          : h(
              "table.stack",
              {},
              h("caption.sr", {}, "API keys, newest first"),
              h(
                "thead",
                {},
                h(
                  "tr",
                  {},
                  ...[
                    "Key",
                    "Account",
                    "Plan",
                    "Left of the minute",
                    "Left of the day",
                    "State",
                    "Last used (UTC)"
                  ].map((name) => h("th", { scope: "col" }, name))
                )
              ),
              h("tbody", {}, ...found.map(row))
            )
      )
      replace(
        pager,
        cursors.length > 1 &&
          h("button", { "data-focus": "newer", onclick: () => turn(cursors.slice(0, -1)) }, "Newer"),
        next && h("button", { "data-focus": "older", onclick: () => turn([...cursors, next]) }, "Older")
      )
    }
  }
}

/** @param {App} app */
export const activity = (app) => {
  const grid = h("div.grid")
  const table = h("div")
  /** @type {ReadonlyArray<any>} */
  let rows = []
  return {
    elements: [grid, table],
    refresh: async () => {
      const history = await app.api("GET", `/history?since=${rows.at(-1)?.to ?? 0}`)
      const now = history.rows.at(-1)?.to ?? rows.at(-1)?.to ?? Date.now()
      if (rows.length === 0 || history.rows.length > 0) {
        rows = [...rows, ...history.rows].filter(({ from }) => from >= now - 3_600_000)
        replace(grid, ...charts(rows, now))
      }
      replace(table, processes(history))
    }
  }
}

/** @param {App} app */
export const events = (app) => {
  const table = scroller("Events")
  const pager = h("div.pager")
  /** Number of events that are shown. */
  let wanted = 50
  return {
    elements: [table, pager],
    refresh: async () => {
      /** @type {Array<any>} */
      const found = []
      let cursor
      do {
        const page = await app.api("GET", `/events?limit=50${cursor ? `&cursor=${cursor}` : ""}`)
        found.push(...page.events)
        cursor = page.next
      } while (cursor && found.length < wanted)
      replace(table, found.length === 0 ? h("p.empty", {}, "Nothing is recorded.") : eventTable(found))
      replace(
        pager,
        cursor &&
          h(
            "button",
            {
              "data-focus": "older",
              onclick: () => {
                wanted += 50
                void app.update()
              }
            },
            "Older"
          )
      )
    }
  }
}
