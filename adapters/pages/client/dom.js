/** Creates elements from data. Text is always text: markup in a label is shown, never interpreted. */

/**
 * Creates an element. Properties are set as such, `data` and ARIA attributes as attributes; `null` and `false` children
 * are omitted.
 *
 * @param {string} tag with classes, such as `p.note`
 * @param {Record<string, any>} properties
 * @param {...(Node | string | number | null | false | undefined)} children
 * @returns {any}
 */
export const h = (tag, properties = {}, ...children) => {
  const [name = "div", ...classes] = tag.split(".")
  const element = document.createElement(name)
  if (classes.length > 0) element.className = classes.join(" ")
  for (const [key, value] of Object.entries(properties)) {
    if (/^(?:aria-|data-|role$|for$)/.test(key)) element.setAttribute(key, String(value))
    else if (value !== undefined) Reflect.set(element, key, value)
  }
  element.append(
    ...children
      .filter((child) => child !== null && child !== false && child !== undefined)
      .map((child) => (typeof child === "number" ? String(child) : /** @type {any} */ (child)))
  )
  return element
}

/**
 * Creates an element of SVG.
 *
 * @param {string} tag
 * @param {Record<string, string | number>} attributes
 * @param {...Node} children
 * @returns {any}
 */
export const svg = (tag, attributes = {}, ...children) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value))
  element.append(...children)
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
  parent.replaceChildren(...children.filter(Boolean))
  if (key)
    /** @type {HTMLElement | null} */ (parent.querySelector(`[data-focus="${CSS.escape(key)}"]`))?.focus()
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
export const time = (ms) =>
  ms === null
    ? "never"
    : h("time", { dateTime: new Date(ms).toISOString(), title: new Date(ms).toISOString() }, times.format(ms))

/** @param {number} ms */
export const duration = (ms) => {
  const seconds = Math.max(Math.ceil(ms / 1000), 0)
  const parts = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3_600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "m"],
    [seconds % 60, "s"]
  ]
  return (
    parts
      .filter(([count]) => count !== 0)
      .slice(0, 2)
      .map((part) => part.join(""))
      .join(" ") || "0s"
  )
}
