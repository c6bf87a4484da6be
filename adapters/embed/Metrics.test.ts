/** Checks the metrics of a store on every kind of database, in the Prometheus text format. */
import { spawnSync } from "node:child_process"
import { DatabaseSync } from "node:sqlite"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import { describe, expect, it } from "vitest"
import * as Plan from "../../core/limits/Plan.ts"
import * as Databases from "../sql/Databases.fixture.ts"
import { defineOperation } from "./index.ts"
import { client, creation, kinds, open, titleEnd } from "./Stores.fixture.ts"

interface Sample {
  readonly name: string
  readonly labels: { readonly [name: string]: string }
  readonly value: number
}

/** Parses the Prometheus text format. */
const parse = (text: string): ReadonlyArray<Sample> =>
  text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const [, name = "", labels = "", value = ""] = /^([a-z0-9_]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
      const pairs = [...labels.matchAll(/([a-z_]+)="([^"]*)"/g)].map(([, label, text]) => [label, text])
      return { name, labels: Object.fromEntries(pairs), value: Number(value) }
    })

const sum = (samples: ReadonlyArray<Sample>, name: string, labels: Sample["labels"] = {}): number =>
  samples
    .filter((sample) => sample.name === name)
    .filter((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
    .reduce((total, { value }) => total + value, 0)

const hasPromtool = spawnSync("promtool", ["--version"]).error === undefined

describe("store.metrics()", () => {
  for (const kind of kinds) {
    it.skipIf(kind.missing !== undefined)(
      `does not affect the log of key changes ${titleEnd(kind)}`,
      async () => {
        const store = await open({ database: await kind.address(), metrics: true })
        const { id } = await store.keys.issue({ plan: "Free" })
        await store.keys.set(id, { plan: "Pro" })
        expect((await store.keys.log(id)).map(({ action }) => action)).toEqual(["issued", "changed"])
      }
    )

    it.skipIf(kind.missing !== undefined)(
      `counts requests, admissions, bans and database calls ${titleEnd(kind)}`,
      async () => {
        const createOrder = defineOperation({
          ...{ id: "createOrder", method: "POST", path: "/orders", success: {}, idempotent: true },
          run: () => {}
        })
        const store = await open({
          ...{ database: await kind.address(), operations: [createOrder] },
          metrics: true,
          keyCacheMs: 0,
          ban: { strikes: 1, strikeIntervalMs: 0 }
        })
        const { key } = await store.keys.issue({ plan: "Enterprise", limits: { perMinute: 3, perDay: 100 } })
        const send = await client(store)
        const statuses = new Map<number, number>()
        const requests = [
          () => send("/v1/pets", key, creation),
          () => send("/v1/pets/1", key),
          () => send("/v1/orders", key, { method: "POST", headers: { "Idempotency-Key": "order-1" } }),
          ...Array.from({ length: 6 }, () => () => send("/v1/pets", key)),
          () => send("/v1/pets"),
          () => send("/nothing")
        ]
        for (const request of requests) {
          const { status } = (await request()).response
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
        }
        const samples = parse(store.metrics())
        for (const [status, count] of statuses) {
          expect(
            sum(samples, "http_server_request_duration_seconds_count", {
              http_response_status_code: String(status)
            })
          ).toBe(count)
        }
        expect(statuses.get(403) ?? statuses.get(429)).toBeGreaterThan(0)
        // Every request has exactly one outcome, and the outcomes match the responses.
        expect(sum(samples, "animal_store_admissions_total")).toBe(requests.length)
        expect(
          sum(samples, "animal_store_admissions_total", { plan: "Enterprise", outcome: "admitted" })
        ).toBe(3)
        expect(
          sum(samples, "animal_store_admissions_total", { plan: "anonymous", outcome: "admitted" })
        ).toBe(2)
        expect(sum(samples, "animal_store_admissions_total", { outcome: "banned" })).toBeGreaterThan(1)
        expect(sum(samples, "animal_store_bans_total")).toBe(1)
        expect(sum(samples, "animal_store_bans_total", { plan: "Enterprise" })).toBe(1)
        const calls = (operation: string) =>
          sum(samples, "db_client_operation_duration_seconds_count", {
            db_system_name: kind.system,
            db_operation_name: operation
          })
        // A store in memory makes no calls to a database.
        const isDatabase = kind.system !== "memory"
        const expected = isDatabase ? [1, 1, 1, requests.length, 9, 1, 1] : [0, 0, 0, 0, 0, 0, 0]
        expect(
          [
            ...["insert_pet", "find_pet", "insert_api_key", "count_request", "find_api_key"],
            ...["claim_response", "settle_response"]
          ].map(calls)
        ).toEqual(expected)
        expect(sum(samples, "animal_store_db_operations_active")).toBe(0)
        const groups = sum(samples, "animal_store_commit_group_size_sum")
        expect(groups > 0).toBe(isDatabase)
        // On PostgreSQL, reads are also sent in batches.
        if (kind.system === "postgresql") {
          const batched = ["insert_pet", "find_pet", "page_pets", "count_request", "find_api_key"].map(calls)
          expect(groups).toBe(batched.reduce((a, b) => a + b, 0))
        }
        expect(sum(samples, "http_server_request_duration_seconds_count", { http_route: "/nothing" })).toBe(0)
      }
    )
  }

  for (const kind of Databases.kinds) {
    const reason = kind.missing === undefined ? "" : ` (skipped, ${kind.missing})`
    it.skipIf(kind.missing !== undefined)(
      `counts a database call as active until it ends, on ${kind.name}${reason}`,
      async () => {
        const database = await Databases.createForTest(kind)
        const store = await open({ database: database.address, metrics: true, databaseTimeoutMs: 30_000 })
        const { key } = await store.keys.issue({ plan: "Free" })
        const send = await client(store)
        const active = () => sum(parse(store.metrics()), "animal_store_db_operations_active")
        // SQLite has one lock for all writes.
        const lock = kind.name === "SQLite" ? "DELETE FROM pets WHERE false" : "LOCK TABLE pets"
        let release = (): void => undefined
        const released = new Promise<void>((resolve) => {
          release = resolve
        })
        let isLocked = false
        const locking = SqlClient.SqlClient.use((sql) =>
          sql.withTransaction(
            Effect.andThen(
              sql.unsafe(lock),
              Effect.promise(() => {
                isLocked = true
                return released
              })
            )
          )
        ).pipe(Effect.provide(database.client), Effect.runPromise)
        await expect.poll(() => isLocked).toBe(true)
        const creating = send("/v1/pets", key, creation)
        await expect.poll(active, { timeout: 60_000 }).toBeGreaterThan(0)
        release()
        await locking
        expect((await creating).response.status).toBe(201)
        expect(active()).toBe(0)
      }
    )
  }

  it("has the counters of each plan and outcome from the start, because an increase needs two samples", async () => {
    const store = await open({ metrics: true })
    const samples = parse(store.metrics()).filter(({ name }) => name.startsWith("animal_store_"))
    const counters = [...Plan.names, "anonymous"].flatMap((plan) => [
      ...["admitted", "limited", "banned"].map((outcome) => ({ outcome, plan })),
      { plan }
    ])
    // Requests without a valid key are never banned.
    const expected = counters.filter(
      ({ plan, ...rest }) => plan !== "anonymous" || ("outcome" in rest && rest.outcome !== "banned")
    )
    expect(samples.map(({ labels }) => labels)).toEqual(expect.arrayContaining(expected))
    expect(samples).toHaveLength(expected.length)
    expect(samples.filter(({ value }) => value !== 0)).toEqual([])
  })

  it("gives an error type only to failed requests and failed database calls", async () => {
    const address = (await kinds[1]?.address()) ?? ""
    const store = await open({ database: address, metrics: true })
    const { key } = await store.keys.issue({ plan: "Free" })
    const send = await client(store)
    expect((await send("/v1/pets", key)).response.status).toBe(200)
    expect((await send("/v1/pets/99", key)).response.status).toBe(404)
    const other = new DatabaseSync(address.slice("sqlite:".length))
    other.exec("ALTER TABLE pets RENAME TO gone")
    other.close()
    expect((await send("/v1/pets", key)).response.status).toBe(503)
    const controller = new AbortController()
    // Disconnects when the service reads the body, so that no database call is in progress.
    const body = new ReadableStream({ pull: () => controller.abort() }, { highWaterMark: 0 })
    const disconnected = store.fetch(
      new Request("https://store.test/v1/pets", {
        ...creation,
        headers: { "Content-Type": "application/json", Authorization: `Bearer ${key}` },
        body,
        duplex: "half",
        signal: controller.signal
      })
    )
    await expect(disconnected).rejects.toThrow()
    const samples = parse(store.metrics())
    const typesOf = (metric: string, label: string) =>
      samples
        .filter(({ name }) => name === `${metric}_count`)
        .map(({ labels, value }) => [labels[label], labels.error_type, value])
    expect(typesOf("http_server_request_duration_seconds", "http_response_status_code")).toEqual([
      ["200", undefined, 1],
      ["404", undefined, 1],
      ["503", "service_unavailable", 1],
      [undefined, "client_disconnected", 1]
    ])
    expect(
      typesOf("db_client_operation_duration_seconds", "db_operation_name").filter(([, type]) => type)
    ).toEqual([["page_pets", "store_unavailable", 1]])
    const schemes = samples.filter(({ name }) => name === "http_server_request_duration_seconds_count")
    expect(schemes.map(({ labels }) => labels.url_scheme)).toEqual(["http", "http", "http", "https"])
  })

  it("uses the histogram buckets of the conventions, and base units for process metrics", async () => {
    const store = await open({ database: (await kinds[1]?.address()) ?? "", metrics: true })
    await store.fetch(new Request("http://store.test/v1/pets"))
    const text = store.metrics()
    const samples = parse(text)
    const boundariesOf = (metric: string) => [
      ...new Set(samples.filter(({ name }) => name === `${metric}_bucket`).map(({ labels }) => labels.le))
    ]
    expect(boundariesOf("http_server_request_duration_seconds")).toEqual(
      "0.005 0.01 0.025 0.05 0.075 0.1 0.25 0.5 0.75 1 2.5 5 7.5 10 +Inf".split(" ")
    )
    expect(boundariesOf("db_client_operation_duration_seconds")).toEqual(
      "0.001 0.005 0.01 0.05 0.1 0.5 1 5 10 +Inf".split(" ")
    )
    expect(sum(samples, "process_resident_memory_bytes")).toBeGreaterThan(10_000_000)
    expect(sum(samples, "v8js_memory_heap_used_bytes")).toBeGreaterThan(1_000_000)
    expect(sum(samples, "process_cpu_seconds_total")).toBeGreaterThan(0)
    expect(Math.abs(sum(samples, "process_start_time_seconds") - performance.timeOrigin / 1000)).toBeLessThan(
      1
    )
    expect(sum(samples, "nodejs_eventloop_utilization_ratio")).toBeLessThanOrEqual(1)
    for (const statistic of ["min", "max", "mean", "stddev", "p50", "p90", "p99"]) {
      expect(text).toMatch(new RegExp(`^nodejs_eventloop_delay_${statistic}_seconds [0-9.e-]+$`, "m"))
    }
  })

  it.skipIf(!hasPromtool)(
    `passes the checks of promtool${hasPromtool ? "" : " (skipped: promtool is not installed)"}`,
    async () => {
      const store = await open({ database: await (kinds[1] ?? kinds[0])?.address(), metrics: true })
      const { key } = await store.keys.issue({ plan: "Free" })
      const send = await client(store)
      await send("/v1/pets", key, creation)
      await send("/nothing")
      const { status, stderr, stdout } = spawnSync("promtool", ["check", "metrics"], {
        input: store.metrics(),
        encoding: "utf8"
      })
      expect([status, stdout, stderr]).toEqual([0, "", ""])
    }
  )

  it("adds no time series for further requests with unknown methods and paths", async () => {
    const store = await open({ metrics: true })
    const request = (path: string, method: string) =>
      store.fetch(new Request(`http://store.test${path}`, { method }))
    const seriesAfter = async (count: number) => {
      for (let index = 0; index < count; index++) await request(`/x${index}`, `M${index}`)
      return parse(store.metrics()).length
    }
    const few = await seriesAfter(70)
    expect(await seriesAfter(200)).toBe(few)
  })

  it("contains no data from another store", async () => {
    const [busy, idle] = [await open({ metrics: true }), await open({ metrics: true })]
    await busy.fetch(new Request("http://store.test/v1/pets"))
    expect(idle.metrics()).not.toContain("http_server_request_duration_seconds")
  })

  it("throws an error that names the `metrics` option if metrics are off", async () => {
    const store = await open({})
    expect(() => store.metrics()).toThrow("metrics: true")
  })
})
