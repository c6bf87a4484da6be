/** Checks that the alerting rules and the dashboard use only documented metrics and labels. */
import * as path from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import { parse } from "yaml"
import { openAnimalStore } from "../../adapters/embed/index.ts"
import { callBoundaries, instruments, requestBoundaries } from "../../adapters/telemetry/Instruments.ts"
import { commandsOf, createDirectory, describeWith, read, shell } from "../Pages.fixture.ts"

const page = read("docs/deploying/README.md")

/** The metrics in observability.md, each with its type and labels. */
const documented = new Map(
  [
    ...((read("docs/observability.md").split("<!-- metrics -->")[1] ?? "")
      .split("<!-- metrics: end -->")[0]
      ?.matchAll(/^\| `(\w+)` \| (\w+) \|([^|]*)\|/gm) ?? [])
  ].map(([, name = "", type = "", labels = ""]) => [
    name,
    { type, labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label = ""]) => label) }
  ])
)

/** The labels that Prometheus adds to every series. */
const SCRAPE_LABELS = ["job", "instance"]

/** Whether a metric comes from Prometheus or node_exporter. */
const isForeign = (name: string): boolean => name === "up" || name.startsWith("node_")

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly annotations: { readonly summary: string; readonly description: string }
}

const rules: ReadonlyArray<Rule> = parse(read("docs/deploying/alerts.rules.yml")).groups.flatMap(
  ({ rules }: { readonly rules: ReadonlyArray<Rule> }) => rules
)

const testsFile = "docs/deploying/alerts.test.yml"

interface Series {
  readonly series: string
  readonly values: string
}

/** The tests of alerts that fire. */
const firing: ReadonlyArray<{ readonly input_series: ReadonlyArray<Series> }> = parse(
  read(testsFile)
).tests.filter((test: object) => "promql_expr_test" in test)

interface Panel {
  readonly id: number
  readonly title: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly targets: ReadonlyArray<{ readonly expr: string; readonly legendFormat: string }>
}

const dashboard: { readonly panels: ReadonlyArray<Panel> } = JSON.parse(read("docs/deploying/dashboard.json"))

const expressions: ReadonlyArray<readonly [place: string, expression: string]> = [
  ...rules.map(({ alert, expr }) => [alert, expr] as const),
  ...dashboard.panels.flatMap(({ targets, title }) => targets.map(({ expr }) => [title, expr] as const))
]

interface Selector {
  readonly name: string
  readonly labels: ReadonlyArray<string>
}

const selectorsOf = (expression: string): ReadonlyArray<Selector> =>
  [...expression.matchAll(/\b([a-z_][a-z0-9_]*)\{([^}]*)\}/g)].map(([, name = "", matchers = ""]) => ({
    name,
    labels: [...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = ""]) => label)
  }))

/** Returns the documented metric of a series, or `undefined`; a histogram has `_bucket`, `_count` and `_sum`. */
const metricOf = (name: string): string | undefined => {
  if (documented.has(name)) return documented.get(name)?.type === "histogram" ? undefined : name
  const base = name.replace(/_(?:bucket|count|sum)$/, "")
  return documented.get(base)?.type === "histogram" ? base : undefined
}

describe("the documented metrics", () => {
  it("are all metrics of the server", () => {
    const exported = Object.values(instruments).map(({ prometheus }) => prometheus)
    expect([...documented.keys()].toSorted()).toEqual(exported.toSorted())
  })

  it("are exported by a server with the documented types and no other labels", async () => {
    const store = await openAnimalStore({
      database: `sqlite:${path.join(createDirectory(), "animals.db")}`,
      logLevel: "none",
      ban: { strikes: 1 },
      metrics: true
    })
    onTestFinished(() => store.close())
    const { key } = await store.keys.issue({ plan: "Enterprise", limits: { perMinute: 1, perDay: 9 } })
    const get = () =>
      store.fetch(new Request("http://localhost/v1/pets", { headers: { Authorization: `Bearer ${key}` } }))
    // The second request takes a slot, and the third one counts as a strike.
    for (let sent = 0; sent < 3; sent++) await get()
    const text = store.metrics()
    for (const [name, { labels, type }] of documented) {
      expect(text).toContain(`# TYPE ${name} ${type}\n`)
      const series = text.split("\n").filter((line) => metricOf(line.replace(/[{ ].*/, "")) === name)
      const seen = series.flatMap((line) => [...line.matchAll(/(\w+)="/g)].map(([, label = ""]) => label))
      expect([...labels, "le"]).toEqual(expect.arrayContaining([...new Set(seen)]))
    }
  })
})

describe("the alerting rules and the dashboard", () => {
  it("have more than 30 expressions", () => {
    expect(expressions.length).toBeGreaterThan(30)
  })

  it.each(expressions)("use only documented metrics and labels in %s", (_, expression) => {
    const selectors = selectorsOf(expression)
    expect(selectors.length).toBeGreaterThan(0)
    const ownSelectors = selectors.filter(({ name }) => !isForeign(name))
    expect(ownSelectors.filter(({ name }) => metricOf(name) === undefined)).toEqual([])
    const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = ""]) =>
      list.split(/, */)
    )
    const known = ownSelectors.flatMap(({ name }) => documented.get(metricOf(name) ?? "")?.labels ?? [])
    if (ownSelectors.length > 0) {
      expect([...SCRAPE_LABELS, "le", ...known]).toEqual(expect.arrayContaining(grouped))
      for (const { labels, name } of ownSelectors) {
        const allowed = [...SCRAPE_LABELS, ...(documented.get(metricOf(name) ?? "")?.labels ?? [])]
        expect(allowed).toEqual(expect.arrayContaining([...labels]))
      }
    }
  })

  it("use every documented metric except the calls in progress and details of the event loop", () => {
    const used = new Set(
      expressions.flatMap(([, expr]) => selectorsOf(expr).map(({ name }) => metricOf(name)))
    )
    expect([...documented.keys()].filter((name) => !used.has(name))).toEqual([
      "animal_store_db_operations_active",
      ...["min", "max", "mean", "stddev", "p50", "p90"].map(
        (name) => `nodejs_eventloop_delay_${name}_seconds`
      )
    ])
  })

  it("have exactly the alerts that the page describes, each with a test", () => {
    const alerts = rules.map(({ alert }) => alert)
    const table = new Set([...page.matchAll(/`(AnimalStore\w+)`/g)].map(([, name]) => name))
    expect([...table].sort()).toEqual([...alerts].sort())
    const tests = read(testsFile)
    expect(alerts.filter((alert) => !tests.includes(`"${alert}"`))).toEqual([])
    for (const { annotations } of rules) expect(annotations.summary + annotations.description).toMatch(/\S\./)
  })
})

describe("the tests of the alerts", () => {
  it("begin without samples, and only the counters that the server initializes then begin at 0", async () => {
    const series = firing.flatMap(({ input_series }) => input_series)
    expect(series.length).toBeGreaterThan(15)
    expect(series.filter(({ values }) => !values.startsWith("_x10 "))).toEqual([])
    const store = await openAnimalStore({ logLevel: "none", metrics: true })
    onTestFinished(() => store.close())
    const text = store.metrics()
    const isInitialized = ({ series }: Series): boolean =>
      text.includes(`\n${series.replace(/job="[^"]*", instance="[^"]*", /, "")} 0\n`)
    const fromZero = series.filter(({ values }) => /^_x10 0[ +]/.test(values))
    expect(fromZero).toHaveLength(2)
    expect(fromZero.filter((counter) => !isInitialized(counter))).toEqual([])
  })
})

describe("the thresholds of durations", () => {
  const boundaries = new Map<string, ReadonlyArray<number>>([
    ["http_server_request_duration_seconds", requestBoundaries],
    ["db_client_operation_duration_seconds", callBoundaries]
  ])

  it("are boundaries of the histogram, because other quantiles are interpolated", () => {
    const compared = rules.flatMap(({ expr }) => {
      const [, metric = "", threshold] = /^histogram_quantile.*?(\w+)_bucket.* > ([0-9.]+)$/s.exec(expr) ?? []
      return threshold === undefined ? [] : [{ metric, threshold: Number(threshold) }]
    })
    expect(compared.map(({ metric }) => metric)).toEqual([...boundaries.keys()])
    for (const { metric, threshold } of compared) expect(boundaries.get(metric)).toContain(threshold)
  })

  it("are tested with buckets that the histograms have", () => {
    const buckets = [...read(testsFile).matchAll(/(\w+)_bucket\{.* le="([0-9.]+)"/g)]
    expect(buckets.length).toBeGreaterThan(3)
    for (const [, metric = "", le] of buckets) expect(boundaries.get(metric)).toContain(Number(le))
  })
})

describe("the dashboard", () => {
  const { panels } = dashboard

  it("has panels that do not overlap and fit the 24 columns of the grid", () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    const cells = panels.flatMap(({ gridPos: { h, w, x, y } }) =>
      Array.from({ length: w * h }, (_, index) => `${x + (index % w)}:${y + Math.floor(index / w)}`)
    )
    expect(new Set(cells).size).toBe(cells.length)
    expect(Math.max(...panels.map(({ gridPos: { w, x } }) => x + w))).toBe(24)
  })

  it("uses in each legend only labels that its query returns", () => {
    for (const { targets } of panels) {
      for (const { expr, legendFormat } of targets) {
        const labels = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = ""]) => label)
        const by = /\bby \(([^)]*)\)/.exec(expr)?.[1]?.split(/, */) ?? ["instance", "mountpoint"]
        expect(by).toEqual(expect.arrayContaining(labels))
      }
    }
  })
})

describeWith(["promtool"], "promtool", () => {
  it.each(commandsOf("promtool"))("reports no problem for %s", (command) => {
    const { status, stderr, stdout } = shell(command)
    expect(status, stdout + stderr).toBe(0)
  })
})
