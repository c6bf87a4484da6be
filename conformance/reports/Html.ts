/** Renders a report as one self-contained HTML page without scripts, for screens of any size, light or dark. */
import type { Cause, CheckResult, Report, Status } from "../engine/Report.ts"
import { escaped } from "./Markup.ts"
import * as Wording from "./Wording.ts"

/** Renders the report as a page whose structure no text of the subject can change; the most important comes first. */
export const render = (report: Report): string => {
  const verdict = escaped(Wording.verdict(report))
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${verdict}</title>
<style>${style}</style>
</head>
<body>
<header class="${report.verdict}">
<p>Conformance report</p>
<h1>${verdict}</h1>
</header>
<main>
${facts(report)}
${Wording.causes(report).map(cause).join("")}
${section("All checks", "", results(report.checks), true)}
${lines("Stopped early", report.stopped)}
${lines("Choices of the subject", report.choices)}
${lines("Findings of the doctor", report.findings)}
</main>
</body>
</html>
`
}

/** Returns the facts and the counts of a report, which follow the verdict. */
const facts = (report: Report): string => {
  const { capabilities, kind, name } = report.subject
  const counted = [["planned"], ["decided"], ...Wording.countedStatuses] as const
  const claims = Wording.claims(report)
  return [
    list([
      `Subject: ${name} (${kind})`,
      `Level: ${report.level}`,
      `Started: ${report.startedAt}`,
      `Cost: ${Wording.cost(report)}`,
      `Seed: ${report.seed}`,
      ...Wording.provenance(report).map(([term, fact]) => `${term}: ${fact}`),
      `Declared: ${capabilities.join(", ") || "nothing"}`
    ]),
    claims === undefined ? "" : paragraph(`${claims}.`),
    table(
      "Numbers of checks",
      counted.map(([status, word = status]) => word),
      [counted.map(([status]) => String(report.counts[status]))]
    )
  ].join("\n")
}

/** Describes a cause; the first one is open, because it probably explains the others. */
const cause = ([check, group]: readonly [CheckResult, Cause], index: number): string =>
  section(
    `${index === 0 ? "Probable cause" : "Another finding"}: ${code(check.id)}`,
    "fail",
    [preformatted(Wording.failure(check)), ...Wording.consequences(group).map(paragraph)].join("\n"),
    index === 0
  )

const results = (checks: ReadonlyArray<CheckResult>): string =>
  table(
    "All checks",
    ["Check", "Clause", "Status", "Reason", "Level", "Profile", "Decided", "Violations"],
    checks.map(({ counterexample, decided, id, law, level, profile, reason = "", section, status }) => [
      code(id),
      escaped(`${section} ${law}`),
      `<span class="${status}">${status}</span>`,
      escaped(reason),
      level,
      profile,
      String(decided),
      String(counterexample?.times ?? "")
    ])
  )

const lines = (title: string, items: ReadonlyArray<string>): string =>
  items.length === 0 ? "" : section(title, "", list(items))

// The functions below return markup; `paragraph`, `code`, `list` and `preformatted` escape their texts.

const section = (title: string, status: Status | "", content: string, isOpen = false): string =>
  `<details${isOpen ? " open" : ""} class="${status}">
<summary><h2>${title}</h2></summary>
${content}
</details>
`

const paragraph = (text: string): string => `<p>${escaped(text)}</p>`

const code = (text: string): string => `<code>${escaped(text)}</code>`

const list = (items: ReadonlyArray<string>): string =>
  `<ul>\n${items.map((item) => `<li>${escaped(item)}</li>\n`).join("")}</ul>`

const preformatted = (texts: ReadonlyArray<string>): string =>
  texts.length === 0 ? "" : `<pre tabindex="0"><code>${texts.map(escaped).join("\n")}</code></pre>`

/** Returns a table with cells of markup. */
const table = (
  caption: string,
  headings: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>
): string => `<div class="wide" role="region" aria-label="${caption}" tabindex="0">
<table>
<caption>${caption}</caption>
<thead><tr>${headings.map((title) => `<th scope="col">${title}</th>`).join("")}</tr></thead>
<tbody>
${rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>\n`).join("")}</tbody>
</table>
</div>`

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
