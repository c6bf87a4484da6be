/** Renders a report as one self-contained HTML page without scripts, for screens of any size, light or dark. */
import type { Cause, CheckResult, Report } from "../engine/Report.ts"
import { type Markup, markup } from "./Markup.ts"
import * as Wording from "./Wording.ts"

/** Renders the report as a page whose structure no text of the subject can change; the most important comes first. */
export const render = (report: Report): string => {
  const verdict = Wording.verdict(report)
  return markup`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${verdict}</title>
${style}
</head>
<body>
<header class="${report.verdict}">
<p>Conformance report</p>
<h1>${verdict}</h1>
</header>
<main>
${list(Wording.facts(report).map(([term, fact]) => `${term}: ${fact}`))}
${Wording.causes(report).map(cause)}
<div role="region" aria-label="All checks" tabindex="0">
<table>
<caption>All checks</caption>
<thead><tr>${headings}</tr></thead>
<tbody>
${report.checks.map(row)}
</tbody>
</table>
</div>
${section("Stopped early", report.stopped)}
${section("Choices of the subject", report.choices)}
${section("Findings of the doctor", report.findings)}
</main>
</body>
</html>
`.text
}

/** Describes a cause; the first one is open, because it probably explains the others. */
const cause = ([check, group]: readonly [CheckResult, Cause], index: number): Markup =>
  markup`<details${index === 0 ? markup` open` : ""}>
<summary><h2>${index === 0 ? "Probable cause" : "Another finding"}: ${check.id}</h2></summary>
<pre tabindex="0">${Wording.failure(check)}</pre>
${Wording.consequences(group).map((text) => markup`<p>${text}</p>`)}
</details>`

const headings = ["Check", "Clause", "Status", "Reason", "Level", "Profile", "Decided", "Violations"].map(
  (title) => markup`<th scope="col">${title}</th>`
)

const row = (check: CheckResult): Markup => {
  const { counterexample, decided, id, law, level, profile, reason = "", section, status } = check
  const cells = [
    markup`<code>${id}</code>`,
    `${section} ${law}`,
    markup`<span class="${status}">${status}</span>`,
    reason,
    level,
    profile,
    decided,
    counterexample?.times ?? ""
  ]
  return markup`<tr>${cells.map((cell) => markup`<td>${cell}</td>`)}</tr>`
}

const list = (items: ReadonlyArray<string>): Markup =>
  markup`<ul>
${items.map((item) => markup`<li>${item}</li>`)}
</ul>`

const section = (title: string, items: ReadonlyArray<string>): Markup | string =>
  items.length === 0 ? "" : markup`<details><summary><h2>${title}</h2></summary>${list(items)}</details>`

/** The style sheet. Text colors have a contrast of at least 4.5 : 1, and no meaning is shown by color alone. */
const style = markup`<style>
:root{color-scheme:light dark;--page:#fbfbfa;--ink:#1d1f23;--good:#176639;--bad:#a8231c;--care:#7d5200}
@media (prefers-color-scheme:dark){:root{--page:#15171a;--ink:#e7e9ec;--good:#79d39b;--bad:#ff9c92;--care:#eabf62}}
body{margin:0 auto;max-width:68rem;padding:1rem;background:var(--page);color:var(--ink);
font:1rem/1.5 system-ui,sans-serif;overflow-wrap:break-word}
h1{font-size:1.5rem}
h2{display:inline;font-size:1.1rem}
details{margin:1rem 0}
pre,div{overflow-x:auto}
caption,th,td{padding:.3rem .75rem .3rem 0;text-align:left;vertical-align:top}
.pass,.conformant h1,.selection-passed h1{color:var(--good)}
.fail,.error,.not-conformant h1,header.error h1{color:var(--bad)}
.inconclusive{color:var(--care)}
</style>`
