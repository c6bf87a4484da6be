/** Loads the files of the console: the page at `/`, and its scripts and style sheets beside the admin API. */
import * as PageFiles from "./PageFiles.ts"

/** Reads the files. Their paths are relative to `/admin`, except for that of the page. */
export const files = PageFiles.load([
  PageFiles.page("/", "console.html"),
  ...[
    "page.css",
    "console.css",
    "console.js",
    "views.js",
    "dialogs.js",
    "parts.js",
    "charts.js",
    "dom.js"
  ].map((name) => PageFiles.asset("/", name))
])
