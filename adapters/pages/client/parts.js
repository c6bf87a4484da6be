/** The parts that views and dialogs share: countdowns, states, bars, and tables of events. */
import { duration, h, number, time } from "./dom.js"

/** Updates the countdowns of the page each second. */
setInterval(() => {
  for (const element of document.querySelectorAll("[data-until]"))
    element.textContent = duration(Number(element.getAttribute("data-until")) - Date.now())
}, 1_000)

/** @param {number} until */
const countdown = (until) => h("span", { "data-until": until }, duration(until - Date.now()))

export const titles = /** @type {Record<string, string>} */ ({
  all: "All",
  active: "Active",
  near_limit: "Near limit",
  banned: "Banned",
  rotating: "Rotating",
  expired: "Expired",
  revoked: "Revoked"
})

/** @param {import("./views.js").Key} key */
export const badges = ({ bannedUntil, states }) =>
  h(
    "span.badges",
    {},
    ...states.map((state) =>
      h(
        `span.badge.${state}`,
        {},
        titles[state] ?? state,
        state === "banned" && bannedUntil !== null && h("span", {}, " ", countdown(bannedUntil))
      )
    )
  )

/**
 * A bar of what is left of a window.
 *
 * @param {string} name
 * @param {number} left
 * @param {number} limit
 */
export const bar = (name, left, limit) => {
  const share = limit === 0 ? 0 : Math.min(left / limit, 1)
  const fill = h(`span.fill.${share <= 0 ? "none" : share <= 0.2 ? "low" : "good"}`)
  fill.style.width = `${share * 100}%`
  return h(
    "span.usage",
    {},
    h(
      "span.bar",
      {
        role: "meter",
        "aria-label": `${name}: requests left`,
        "aria-valuemin": 0,
        "aria-valuemax": limit,
        "aria-valuenow": Math.min(left, limit),
        "aria-valuetext": `${left} of ${limit}`
      },
      fill
    ),
    h("span.figures", {}, h("b", {}, number(left)), ` / ${number(limit)}`)
  )
}

/** @param {string} field @param {any} value */
const changed = (field, value) => {
  if (value === null) return "none"
  return typeof value === "number" && /(?:At|Until)$/.test(field) ? time(value) : String(value)
}

/** @param {ReadonlyArray<any>} list */
export const eventTable = (list) =>
  h(
    "table",
    {},
    h("caption.sr", {}, "Actions of administrators, newest first"),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        ...["Time", "Who", "Action", "Key", "Changes"].map((name) => h("th", { scope: "col" }, name))
      )
    ),
    h(
      "tbody",
      {},
      ...list.map(({ action, actor, at, changes, keyId }) =>
        h(
          "tr",
          {},
          h("td", {}, time(at)),
          h("td", {}, actor),
          h("td", {}, h(`span.badge.${action}`, {}, action)),
          h("td", {}, h("code", {}, keyId)),
          h(
            "td",
            {},
            ...Object.entries(changes).map(([field, { from, to }]) =>
              h(
                "span.change",
                {},
                h("span.muted", {}, `${field} `),
                ...(from === null ? [] : [changed(field, from), " → "]),
                changed(field, to)
              )
            )
          )
        )
      )
    )
  )

/**
 * Creates a region that scrolls, which the keyboard can reach.
 *
 * @param {string} name
 * @param {...any} content
 */
export const scroller = (name, ...content) =>
  h("div.card.scroll", { tabIndex: 0, role: "region", "aria-label": name }, ...content)
