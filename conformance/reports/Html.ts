/**
 * Renders a report as one self-contained HTML page without scripts, for screens of any size, light or dark.
 */

import type { Cause, CheckResult, Counterexample, Report, Status } from "../engine/Report.ts"
import { escaped } from "./Markup.ts"
import * as Wording from "./Wording.ts"

/** Renders the report as a document whose structure no text of the subject can change. */
export const render = (report: Report): string => {
  const withStatus = (status: Status) => report.checks.filter((check) => check.status === status)
  return `${[
    "<!DOCTYPE html>",
    '<html lang="en">',
    "<head>",
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    '<meta name="referrer" content="no-referrer">',
    `<title>${escaped(Wording.verdict(report))}</title>`,
    `<style>${style}</style>`,
    "</head>",
    "<body>",
    ...header(report),
    "<main>",
    ...causes(report),
    ...reasons("Suite errors", withStatus("error")),
    ...reasons("Warnings", withStatus("warn")),
    ...reasons("Inconclusive", withStatus("inconclusive")),
    ...checkTable(report),
    ...lines("Stopped early", report.stopped),
    ...lines("Choices of the subject", report.choices),
    ...lines("Findings of the doctor", report.findings),
    "</main>",
    "</body>",
    "</html>"
  ].join("\n")}\n`
}

const header = (report: Report): ReadonlyArray<string> => {
  const { capabilities, kind, name } = report.subject
  const facts: ReadonlyArray<readonly [string, string]> = [
    ["Subject", `${name} (${kind})`],
    ["Level", report.level],
    ["Started", report.startedAt],
    ["Cost", Wording.cost(report)],
    ...Wording.provenance(report),
    ["Declared", capabilities.length === 0 ? "nothing" : capabilities.join(", ")]
  ]
  const numbers = [
    ["planned", report.counts.planned, "total"],
    ["decided", report.counts.decided, "total"],
    ...Wording.countedStatuses.map(([status, word]) => [word, report.counts[status], status] as const)
  ] as const
  return [
    `<header class="verdict ${report.verdict}">`,
    "<p>Conformance report</p>",
    `<h1>${escaped(Wording.verdict(report))}</h1>`,
    "</header>",
    '<ul class="counts" aria-label="Checks">',
    ...numbers.map(
      ([word, count, status]) => `<li class="${count === 0 ? "none" : status}"><b>${count}</b> ${word}</li>`
    ),
    "</ul>",
    '<dl class="facts">',
    ...facts.map(([term, text]) => `<div><dt>${term}</dt><dd>${escaped(text)}</dd></div>`),
    "</dl>"
  ]
}

const causes = (report: Report): ReadonlyArray<string> => {
  const [first, ...others] = Wording.causes(report)
  return first === undefined
    ? []
    : [
        ...section("Probable cause", failure(first)),
        ...(others.length === 0 ? [] : section("Other findings", others.flatMap(failure)))
      ]
}

const section = (title: string, content: ReadonlyArray<string>): ReadonlyArray<string> => [
  "<section>",
  `<h2>${title}</h2>`,
  ...content,
  "</section>"
]

const failure = ([check, group]: readonly [CheckResult, Cause]): ReadonlyArray<string> => {
  const consequences = Wording.consequences(group)
  return [
    '<article class="fail">',
    `<h3><code>${escaped(check.id)}</code></h3>`,
    `<p class="law">${escaped(check.law)}</p>`,
    `<p class="aside">${check.level} · ${escaped(check.section)}</p>`,
    ...(check.counterexample === undefined
      ? [`<p>${escaped(Wording.summary(check))}</p>`]
      : details(check.counterexample)),
    ...(consequences === undefined ? [] : [`<p class="aside">${escaped(consequences)}.</p>`]),
    "</article>"
  ]
}

const details = (counterexample: Counterexample): ReadonlyArray<string> => {
  const { actual, expected, steps } = counterexample
  const replay = Wording.replayCommand(counterexample)
  return [
    ...(steps.length === 0
      ? []
      : [
          '<ol class="steps">',
          ...steps.map(
            ({ curl, did, got }) =>
              `<li><code>${escaped(did)}</code> <span class="got">${escaped(got)}</span>${curl === undefined ? "" : `<pre tabindex="0"><code>${escaped(curl)}</code></pre>`}</li>`
          ),
          "</ol>"
        ]),
    "<dl>",
    `<div><dt>Expected</dt><dd>${escaped(expected)}</dd></div>`,
    `<div class="actual"><dt>Actual</dt><dd>${escaped(actual)}</dd></div>`,
    "</dl>",
    ...(replay === undefined ? [] : [`<pre tabindex="0"><code>${escaped(replay)}</code></pre>`])
  ]
}

const reasons = (title: string, checks: ReadonlyArray<CheckResult>): ReadonlyArray<string> =>
  checks.length === 0
    ? []
    : section(
        title,
        Wording.byReason(checks).flatMap(([reason, group]) => [
          `<article class="${group[0]?.status ?? ""}">`,
          `<p>${group.map(({ id }) => `<code>${escaped(id)}</code>`).join(", ")}</p>`,
          `<p>${escaped(reason)}</p>`,
          "</article>"
        ])
      )

const checkTable = ({ checks }: Report): ReadonlyArray<string> => {
  const present = Wording.countedStatuses.filter(([status]) =>
    checks.some((check) => check.status === status)
  )
  return [
    '<section class="checks">',
    "<h2>All checks</h2>",
    "<fieldset>",
    "<legend>Show</legend>",
    '<label><input type="radio" name="show" id="show-all" checked> all</label>',
    ...present.map(
      ([status, word]) => `<label><input type="radio" name="show" id="show-${status}"> ${word}</label>`
    ),
    "</fieldset>",
    '<div class="wide" role="region" aria-label="All checks" tabindex="0">',
    "<table>",
    "<caption>The check of each clause with its result</caption>",
    headings("Clause", "Section", "Status", "Level", "Profile", "Decided", "Violations"),
    "<tbody>",
    ...checks.map(
      ({ counterexample, decided, id, law, level, profile, section, status }) =>
        `<tr data-status="${status}">${row(
          `<code>${escaped(id)}</code><small>${escaped(law)}</small>`,
          escaped(section),
          `<span class="badge ${status}">${status}</span>`,
          level,
          profile,
          String(decided),
          String(counterexample?.times ?? "")
        )}</tr>`
    ),
    "</tbody>",
    "</table>",
    "</div>",
    "</section>"
  ]
}

const headings = (...titles: ReadonlyArray<string>): string =>
  `<thead><tr>${titles.map((title) => `<th scope="col">${title}</th>`).join("")}</tr></thead>`

const row = (first: string, ...cells: ReadonlyArray<string>): string =>
  `<th scope="row">${first}</th>${cells.map((cell) => `<td>${cell}</td>`).join("")}`

const lines = (title: string, items: ReadonlyArray<string>): ReadonlyArray<string> =>
  items.length === 0
    ? []
    : section(title, ["<ul>", ...items.map((item) => `<li>${escaped(item)}</li>`), "</ul>"])

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
h2{margin:2.5rem 0 .75rem;font-size:1.2rem}
h3{margin:0;font-size:1.05rem}
p{margin:.4rem 0}
code,pre{font:.9em/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
pre{margin:.5rem 0;padding:.75rem;overflow-x:auto;background:var(--code);border-radius:.4rem;
overflow-wrap:normal}
dl,dd{margin:0}
dt,.aside,header p,caption,small{color:var(--soft);font-size:.875rem}
header,article{padding:1rem 1.25rem;background:var(--card);border:1px solid var(--line);
border-left:.35rem solid var(--calm);border-radius:.5rem}
article{margin:0 0 1rem}
article dl div{margin:.4rem 0}
header p{margin:0}
.conformant,.selection-passed{border-left-color:var(--good)}
.not-conformant,header.error,article.fail,article.error{border-left-color:var(--bad)}
header.inconclusive,article.inconclusive,article.warn{border-left-color:var(--care)}
.conformant h1,.pass{color:var(--good)}
.not-conformant h1,header.error h1,.badge.fail,.badge.error,li.fail,li.error,.actual dd{color:var(--bad)}
.badge.inconclusive,.badge.warn,li.inconclusive,li.warn{color:var(--care)}
.law{font-size:1.05rem}
.counts{display:flex;flex-wrap:wrap;gap:.4rem;margin:1rem 0;padding:0;list-style:none}
.counts li{padding:.15rem .65rem;background:var(--card);border:1px solid var(--line);border-radius:1rem}
.counts .none{color:var(--soft)}
.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(13rem,1fr));gap:.6rem 1.5rem}
.steps{margin:.4rem 0;padding-left:2rem}
.steps li{margin:.2rem 0}
.got{color:var(--soft)}
.got:not(:empty)::before{content:"→ "}
fieldset{display:flex;flex-wrap:wrap;gap:.25rem 1rem;margin:0 0 .75rem;padding:.4rem .9rem .6rem;
border:1px solid var(--line);border-radius:.5rem}
legend{color:var(--soft);font-size:.875rem}
.wide{overflow-x:auto;border:1px solid var(--line);border-radius:.5rem;background:var(--card)}
table{width:100%;border-collapse:collapse}
caption{padding:.6rem .75rem 0;text-align:left}
th,td{padding:.5rem .75rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top;
font-weight:400}
thead th{color:var(--soft);font-size:.875rem;white-space:nowrap}
tbody th{min-width:14rem}
tbody tr:last-child>*{border-bottom:0}
th small{display:block}
.badge{font-weight:600;white-space:nowrap}
.badge.not-applicable,.badge.excluded{color:var(--calm);font-weight:400}
${["error", "fail", "inconclusive", "warn", "pass", "not-applicable", "excluded"]
  .map((status) => `.checks:has(#show-${status}:checked) tbody tr:not([data-status="${status}"])`)
  .join(",\n")}{display:none}
:focus-visible{outline:2px solid var(--ink);outline-offset:2px}
@media (max-width:40rem){
body{padding:.75rem .75rem 3rem}h1{font-size:1.25rem}header,article{padding:.8rem .9rem}}
@media print{fieldset{display:none}body{max-width:none}}
`
