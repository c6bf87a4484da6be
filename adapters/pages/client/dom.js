/** Creates elements from data. Text is always text: markup in a label is shown, never interpreted. */

/** @param {ReadonlyArray<any>} children */
const shown = (children) =>
  children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false)

const SVG = ["svg", "line", "path"]

/**
 * Creates an element. An object before the children has its attributes, and its listeners as properties; children can be
 * in arrays, and `undefined`, `null` and `false` are omitted.
 *
 * @param {string} tag with classes, such as `p.note`
 * @param {...any} content
 * @returns {any}
 */
export const h = (tag, ...content) => {
  const [name = "", ...classes] = tag.split(".")
  const element = SVG.includes(name)
    ? document.createElementNS("http://www.w3.org/2000/svg", name)
    : document.createElement(name)
  if (classes.length > 0) element.classList.add(...classes)
  const attributes = content[0]?.constructor === Object ? content.shift() : {}
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") Reflect.set(element, key, value)
    else if (typeof value === "boolean") element.toggleAttribute(key, value)
    else element.setAttribute(key, value)
  }
  element.append(...shown(content))
  return element
}

/**
 * Replaces the content of an element, and keeps the focus on the element with the same `data-focus`.
 *
 * @param {Element} parent
 * @param {...any} children
 */
export const replace = (parent, ...children) => {
  const active = document.activeElement
  const key = parent.contains(active) ? active?.getAttribute("data-focus") : undefined
  parent.replaceChildren(...shown(children))
  const same = key ? parent.querySelector(`[data-focus="${CSS.escape(key)}"]`) : undefined
  if (same instanceof HTMLElement) same.focus()
}

const integers = new Intl.NumberFormat("en")
const times = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" })

/** @param {number} value */
export const number = (value) => integers.format(value)

/**
 * Shows a time of epoch milliseconds in the zone of the browser, and in UTC in its title.
 *
 * @param {number | null} ms
 */
export const time = (ms) => {
  if (ms === null) return "never"
  const utc = new Date(ms).toISOString()
  return h("time", { datetime: utc, title: utc }, times.format(ms))
}

/** @param {number} ms */
const duration = (ms) => {
  const seconds = Math.max(Math.ceil(ms / 1_000), 0)
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3_600)]
  if (hours >= 24) return `${Math.floor(hours / 24)}d ${hours % 24}h`
  if (hours > 0) return `${hours}h ${minutes % 60}m`
  return minutes > 0 ? `${minutes}m ${seconds % 60}s` : `${seconds}s`
}

/** Shows how long it is until a time of epoch milliseconds. @param {number} until */
export const countdown = (until) => h("span", { "data-until": until }, duration(until - Date.now()))

setInterval(() => {
  for (const element of document.querySelectorAll("[data-until]"))
    element.textContent = duration(Number(element.getAttribute("data-until")) - Date.now())
}, 1_000)

/**
 * Creates a region that scrolls, which the keyboard can reach.
 *
 * @param {string} name
 * @param {...any} content
 */
export const scroller = (name, ...content) =>
  h("div.card.scroll", { tabindex: 0, role: "region", "aria-label": name }, ...content)

/**
 * Creates a table; the first cell of a row is its heading.
 *
 * @param {ReadonlyArray<string>} columns
 * @param {ReadonlyArray<ReadonlyArray<any>>} rows
 */
export const table = (columns, rows) =>
  h(
    "table",
    h(
      "thead",
      h(
        "tr",
        columns.map((name) => h("th", { scope: "col" }, name))
      )
    ),
    h(
      "tbody",
      rows.map(([heading, ...cells]) =>
        h(
          "tr",
          h("th", { scope: "row" }, heading),
          cells.map((cell, index) => h("td", { "data-name": columns[index + 1] }, cell))
        )
      )
    )
  )
