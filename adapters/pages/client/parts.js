/** The parts that views and dialogs share: the states and the usage of keys, and tables of events. */
import { countdown, h, number, table, time } from "./dom.js"

/** @typedef {ReturnType<typeof import("../../embed/KeyRecord.ts").withUsage> & { states: ReadonlyArray<string> }} Key */

/** @type {Readonly<Record<string, string>>} */
export const titles = {
  all: "All",
  active: "Active",
  near_limit: "Near limit",
  banned: "Banned",
  rotating: "Rotating",
  expired: "Expired",
  revoked: "Revoked"
}

/** @param {Key} key */
export const badges = ({ bannedUntil, states }) =>
  h(
    "div.row",
    states.map((state) =>
      h(
        `span.badge.${state}`,
        titles[state],
        state === "banned" && bannedUntil !== null && [" ", countdown(bannedUntil)]
      )
    )
  )

/**
 * Shows what is left of a window.
 *
 * @param {string} name
 * @param {{ readonly limit: number, readonly remaining: number }} window
 */
export const usage = (name, { limit, remaining }) =>
  h(
    "div.usage",
    h("meter", {
      max: limit,
      value: remaining,
      low: limit * 0.2,
      optimum: limit,
      "aria-label": `${name}: requests left`
    }),
    h("b", number(remaining)),
    ` / ${number(limit)}`
  )

/** @param {string} field @param {any} value */
const changed = (field, value) => {
  if (value === null) return "none"
  return typeof value === "number" && /(?:At|Until)$/.test(field) ? time(value) : String(value)
}

/** @param {ReadonlyArray<any>} list */
export const eventTable = (list) =>
  table(
    ["Time", "Who", "Action", "Key", "Changes"],
    list.map(({ action, actor, at, changes, keyId }) => [
      time(at),
      actor,
      h(`span.badge.${action}`, action),
      h("code", keyId),
      Object.entries(changes).map(([field, { from, to }]) =>
        h(
          "span.change",
          h("small", `${field} `),
          from !== null && [changed(field, from), " → "],
          changed(field, to)
        )
      )
    ])
  )
