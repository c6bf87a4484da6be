/** Starts Swagger UI on the OpenAPI document of the service that serves this page. */
import { prettyPrint } from "./ExactJson.js"

/**
 * The parts of React and Swagger UI that this page uses.
 *
 * @typedef {(props: any) => unknown} Component
 * @typedef {{ createElement: (type: unknown, props: object | null, ...children: Array<unknown>) => unknown }} React
 * @typedef {{ React: React, getComponent: (name: string, container?: boolean) => Component }} System
 * @typedef {{ readonly url: string }} Server
 * @typedef {{ readonly servers?: ReadonlyArray<Server> }} ApiDocument
 */

/** Follows the system's light or dark color scheme, for which Swagger UI has a class instead of a media query. */
const followScheme = () => {
  const dark = matchMedia("(prefers-color-scheme: dark)")
  const apply = () => void document.documentElement.classList.toggle("dark-mode", dark.matches)
  dark.addEventListener("change", apply)
  apply()
}

/** Swagger UI would parse the bodies of responses and round the numbers that are larger than 2^53. */
const exactResponses = () => ({
  wrapComponents: {
    /** @type {(original: Component, system: System) => Component} */
    responseBody:
      (original, { React, getComponent }) =>
      (props) => {
        const text = typeof props.content === "string" ? prettyPrint(props.content) : undefined
        if (text === undefined) return React.createElement(original, props)
        const highlighted = React.createElement(
          getComponent("HighlightCode", true),
          { downloadable: true, fileName: "response.json", language: "json", canCopy: true },
          text
        )
        return React.createElement("div", null, React.createElement("h5", null, "Response body"), highlighted)
      }
  }
})

/** Every documented response has a dozen headers, which would hide the next response, so they are folded. */
const foldedHeaders = () => ({
  wrapComponents: {
    /** @type {(original: Component, system: System) => Component} */
    headers:
      (original, { React }) =>
      (props) =>
        React.createElement(
          "details",
          null,
          React.createElement("summary", null, "Headers"),
          React.createElement(original, props)
        )
  }
})

/** Offers only servers of this page's origin: its content security policy permits no other. */
const ownServers = () => ({
  statePlugins: {
    spec: {
      wrapActions: {
        /** @type {(original: (document: ApiDocument) => unknown) => (document: ApiDocument) => unknown} */
        updateJsonSpec: (original) => (apiDocument) => {
          const own = (apiDocument.servers ?? []).filter(
            ({ url }) => new URL(url, location.href).origin === location.origin
          )
          return original(own.length === 0 ? apiDocument : { ...apiDocument, servers: own })
        }
      }
    }
  }
})

/**
 * Swagger UI splits the values of headers at ", ", and shows them joined with ",".
 *
 * @param {{ readonly headers: Record<string, string | Array<string>> }} response
 */
const exactHeaders = (response) => {
  for (const [name, value] of Object.entries(response.headers)) {
    if (Array.isArray(value)) response.headers[name] = value.join(", ")
  }
  return response
}

/** The accessible names of the controls that Swagger UI leaves without one, by selector; the first match applies. */
const names = new Map([
  ["#servers, .schemes-server-container", () => "Server"],
  [".information-container", () => "About"],
  ["textarea.body-param__text", () => "Request body"],
  [
    "[data-param-name] select",
    (/** @type {Element} */ control) =>
      control.closest("[data-param-name]")?.getAttribute("data-param-name") ?? "Value"
  ],
  [".examples-select-element", () => "Example"],
  [".responses-table", (/** @type {Element} */ table) => table.id.replaceAll("_", " ")],
  ["select", () => "Media type"]
])

/** Names the controls, also those that are rendered later. */
const nameControls = () => {
  for (const part of document.querySelectorAll(".information-container, .schemes-server-container")) {
    part.setAttribute("role", "region")
  }
  for (const [selector, nameOf] of names) {
    for (const control of document.querySelectorAll(`:is(${selector}):not([aria-label])`)) {
      control.setAttribute("aria-label", nameOf(control))
    }
  }
}

followScheme()
new MutationObserver(nameControls).observe(document.body, { childList: true, subtree: true })

// The bundle declares this function globally.
Reflect.get(
  globalThis,
  "SwaggerUIBundle"
)({
  dom_id: "#reference",
  url: new URL("openapi.json", location.href).href,
  layout: "BaseLayout",
  plugins: [exactResponses, foldedHeaders, ownServers],
  responseInterceptor: exactHeaders,
  // The colors of the default theme lack contrast.
  syntaxHighlight: { theme: "tomorrow-night" },
  deepLinking: true,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  persistAuthorization: false,
  queryConfigEnabled: false,
  // By default, Swagger UI asks its authors' server whether the document is valid.
  validatorUrl: null
})
