/** Loads the files of the console: the page at `/`, and its scripts and style sheets beside the admin API. */
import * as PageFiles from "./PageFiles.ts"

const names = ["console.css", "console.js", "keys.js", "actions.js", "history.js", "values.js"]

/** Reads the files. Their paths are relative to `/admin`, except for that of the page. */
export const files = PageFiles.load([
  { path: "/", name: "console.html" },
  ...names.map((name) => ({ path: `/${name}`, name })),
  { path: "/lit-html.js", name: "lit-html.js", origin: "lit-html" },
  { path: "/oat.css", name: "oat.min.css", origin: "@knadh/oat" }
])
