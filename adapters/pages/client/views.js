/** The views of the console: keys, the last hour, and events. */
import { charts, processes } from "./charts.js"
import { act, openKey } from "./dialogs.js"
import { h, number, replace, scroller, table } from "./dom.js"
import { badges, eventTable, titles, usage } from "./parts.js"

/**
 * @typedef {{ readonly api: (method: string, path: string, body?: object) => Promise<any>,
 *   readonly say: (text: string) => void, readonly update: () => Promise<void> }} App
 */

/**
 * A list that is read in pages.
 *
 * @param {App} app
 * @param {string} path
 * @param {() => ReadonlyArray<[string, any]>} query
 * @param {(page: any) => any} show
 */
const pages = ({ api, update }, path, query, show) => {
  const list = scroller("List")
  const pager = h("div.row.end")
  /** The cursors of this page and of those before it. */
  let cursors = [""]
  let sent = 0
  const turn = (/** @type {Array<string>} */ to) => {
    cursors = to
    void update()
  }
  const button = (/** @type {string} */ text, /** @type {Array<string>} */ to) =>
    h("button", { "data-focus": text, onclick: () => turn(to) }, text)
  return {
    elements: [list, pager],
    restart: () => turn([""]),
    refresh: async () => {
      const mine = ++sent
      const given = [...query(), ["cursor", cursors.at(-1) ?? ""], ["limit", "25"]].filter(
        ([, value]) => value
      )
      const page = await api("GET", `${path}?${new URLSearchParams(given)}`)
      // The response to an earlier filter may arrive later.
      if (mine !== sent) return
      replace(list, show(page))
      replace(
        pager,
        cursors.length > 1 && button("Newer", cursors.slice(0, -1)),
        page.next && button("Older", [...cursors, page.next])
      )
    }
  }
}

/** @param {App} app */
export const keys = (app) => {
  const counts = Object.keys(titles).map((state) => /** @type {const} */ ([state, h("b")]))
  const plans = h("select", { name: "plan", "aria-label": "Plan" }, h("option", { value: "" }, "All plans"))
  const search = (/** @type {string} */ name, /** @type {string} */ label) =>
    h("input", { type: "search", name, "aria-label": label, placeholder: label })
  const form = h(
    "form",
    { oninput: () => list.restart(), onsubmit: (/** @type {Event} */ event) => event.preventDefault() },
    h(
      "div.row",
      h(
        "fieldset.row",
        { "aria-label": "State" },
        counts.map(([state, count]) =>
          h(
            `label.tab.${state}`,
            h("input", {
              type: "radio",
              name: "state",
              value: state === "all" ? "" : state,
              checked: state === "all"
            }),
            titles[state],
            count
          )
        )
      ),
      h("button.primary", { type: "button", onclick: () => act(app, "issue") }, "Issue key")
    ),
    h("div.row", search("label", "Label or id"), search("account", "Account"), plans)
  )
  const row = (/** @type {import("./parts.js").Key} */ key) => [
    [
      h("button.link", { "data-focus": key.id, onclick: () => openKey(app, key.id) }, key.label ?? key.id),
      key.label !== null && h("code", key.id)
    ],
    key.account ?? "–",
    h("span.badge", key.plan),
    usage("Minute", key.minute),
    usage("Day", key.day),
    badges(key),
    key.lastSeenDay ?? "never"
  ]
  const columns = [
    ...["Key", "Account", "Plan"],
    ...["Left of the minute", "Left of the day", "State", "Last used (UTC)"]
  ]
  const list = pages(
    app,
    "/keys",
    () => [...new FormData(form)],
    (page) => {
      for (const [state, count] of counts) count.textContent = number(page.counts[state])
      if (page.keys.length > 0) return table(columns, page.keys.map(row))
      return h("p.empty", page.counts.all === 0 ? "No keys." : "No key has this state.")
    }
  )
  return {
    elements: [form, ...list.elements],
    refresh: async () => {
      if (plans.length === 1) {
        const all = await app.api("GET", "/plans")
        plans.append(...all.map((/** @type {any} */ { name }) => h("option", name)))
      }
      await list.refresh()
    }
  }
}

/** @param {App} app */
export const activity = (app) => {
  const grid = h("div.grid")
  const counts = h("div")
  /** @type {ReadonlyArray<import("./charts.js").Row>} */
  let rows = []
  return {
    elements: [grid, h("h2", "Since the start of each process, as /metrics"), counts],
    refresh: async () => {
      const history = await app.api("GET", `/history?since=${rows.at(-1)?.to ?? 0}`)
      if (rows.length === 0 || history.rows.length > 0) {
        const all = [...rows, ...history.rows]
        const now = all.at(-1)?.to ?? Date.now()
        rows = all.filter(({ from }) => from >= now - 3_600_000)
        replace(grid, charts(rows, now))
      }
      replace(counts, processes(history))
    }
  }
}

/** @param {App} app */
export const events = (app) =>
  pages(
    app,
    "/events",
    () => [],
    (page) => (page.events.length > 0 ? eventTable(page.events) : h("p.empty", "Nothing is recorded."))
  )
