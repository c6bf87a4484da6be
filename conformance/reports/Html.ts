/** Renders a report as one self-contained HTML page without scripts, for screens of any size, light or dark. */
import type { Report } from "../engine/Report.ts"
import * as Document from "./Document.ts"
import { escaped } from "./Markup.ts"
import * as Wording from "./Wording.ts"

/** Renders the report as a document whose structure no text of the subject can change. */
export const render = (report: Report): string => {
  const verdict = escaped(Wording.verdict(report))
  return `${[
    "<!DOCTYPE html>",
    '<html lang="en">',
    "<head>",
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    '<meta name="referrer" content="no-referrer">',
    `<title>${verdict}</title>`,
    `<style>${style}</style>`,
    "</head>",
    "<body>",
    `<header class="${report.verdict}">`,
    "<p>Conformance report</p>",
    `<h1>${verdict}</h1>`,
    "</header>",
    "<main>",
    ...Document.head(report).flatMap((each) => block(each, "Numbers of checks")),
    ...Document.sections(report).flatMap(section),
    "</main>",
    "</body>",
    "</html>"
  ].join("\n")}\n`
}

const section = ({ blocks, check, isOpen, status, title }: Document.Section): ReadonlyArray<string> => [
  `<details${isOpen ? " open" : ""} class="${status ?? ""}">`,
  `<summary><h2>${title}${check === undefined ? "" : `: <code>${escaped(check)}</code>`}</h2></summary>`,
  ...blocks.flatMap((each) => block(each, title)),
  "</details>"
]

const block = (given: Document.Block, caption: string): ReadonlyArray<string> => {
  switch (given.is) {
    case "text":
      return [`<p>${escaped(given.text)}</p>`]
    case "list":
      return ["<ul>", ...given.items.map((item) => `<li>${escaped(item)}</li>`), "</ul>"]
    case "code":
      return [`<pre tabindex="0"><code>${given.lines.map(escaped).join("\n")}</code></pre>`]
    case "table":
      return [
        `<div class="wide" role="region" aria-label="${caption}" tabindex="0">`,
        "<table>",
        `<caption>${caption}</caption>`,
        `<thead><tr>${given.headings.map((title) => `<th scope="col">${title}</th>`).join("")}</tr></thead>`,
        "<tbody>",
        ...given.rows.map((row) => `<tr>${row.map((each) => `<td>${cell(each)}</td>`).join("")}</tr>`),
        "</tbody>",
        "</table>",
        "</div>"
      ]
  }
}

const cell = (given: Document.Cell): string => {
  if (typeof given === "string") return escaped(given)
  return "status" in given
    ? `<span class="${given.status}">${given.status}</span>`
    : given.ids.map((id) => `<code>${escaped(id)}</code>`).join(", ")
}

/** The style sheet. Text colors have a contrast of at least 4.5 : 1, and no meaning is shown by color alone. */
const style = `
:root{--page:#fbfbfa;--card:#fff;--ink:#1d1f23;--soft:#575c66;--line:#dcdee3;--code:#f1f2f4;
--good:#176639;--bad:#a8231c;--care:#7d5200;--calm:#575c66}
@media (prefers-color-scheme:dark){:root{--page:#15171a;--card:#1d2024;--ink:#e7e9ec;--soft:#a9afb9;
--line:#363b43;--code:#262a30;--good:#79d39b;--bad:#ff9c92;--care:#eabf62;--calm:#a9afb9}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:68rem;padding:1.5rem 1rem 4rem;background:var(--page);color:var(--ink);
font:1rem/1.55 system-ui,sans-serif;overflow-wrap:anywhere}
h1{margin:0;font-size:1.5rem;line-height:1.3}
h2{display:inline;margin:0;font-size:1.1rem}
p{margin:.4rem 0}
code,pre{font:.9em/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
pre{margin:.5rem 0;padding:.75rem;overflow-x:auto;background:var(--code);border-radius:.4rem;
overflow-wrap:normal}
header p,caption,thead th{color:var(--soft);font-size:.875rem}
header,details{margin:0 0 1rem;padding:1rem 1.25rem;background:var(--card);border:1px solid var(--line);
border-left:.35rem solid var(--calm);border-radius:.5rem}
.conformant,.selection-passed{border-left-color:var(--good)}
.not-conformant,.fail,.error{border-left-color:var(--bad)}
.inconclusive{border-left-color:var(--care)}
span.pass,.conformant h1{color:var(--good)}
span.fail,span.error,.not-conformant h1,header.error h1{color:var(--bad)}
span.inconclusive{color:var(--care)}
.wide{margin:.75rem 0;overflow-x:auto}
table{width:100%;border-collapse:collapse}
caption{text-align:left}
th,td{padding:.5rem .75rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top;
font-weight:400}
:focus-visible{outline:2px solid var(--ink);outline-offset:2px}
@media (max-width:40rem){body{padding:.75rem .75rem 3rem}h1{font-size:1.25rem}}
`
