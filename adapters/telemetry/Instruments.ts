/**
 * Defines all metrics. `id` and attributes follow the OpenTelemetry semantic conventions where they exist; names for
 * Prometheus contain base units and `_total`, as the Prometheus conventions require.
 */

/** The names, the unit and the description of a metric. */
export interface Instrument {
  /** The name in OTLP. */
  readonly id: string
  /** The name in Prometheus. */
  readonly prometheus: string
  /** The unit in OTLP, a UCUM code. */
  readonly unit: string
  readonly description: string
}

/** Histogram boundaries in seconds that the conventions recommend for durations of HTTP requests. */
export const requestBoundaries = [
  0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10
] as const

/** Histogram boundaries in seconds that the conventions recommend for durations of database calls. */
export const callBoundaries = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10] as const

/** Histogram boundaries for the sizes of group commits, which have at most 512 writes, and of batches. */
export const groupBoundaries = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512] as const

const eventLoopDelay = (statistic: string, label: string): Instrument => ({
  id: `nodejs.eventloop.delay.${statistic}`,
  prometheus: `nodejs_eventloop_delay_${statistic}_seconds`,
  unit: "s",
  description: `${label} of the event loop delay since the previous reading.`
})

/** All metrics. */
export const instruments = {
  requestDuration: {
    id: "http.server.request.duration",
    prometheus: "http_server_request_duration_seconds",
    unit: "s",
    description: "Duration of HTTP requests, from the parsed headers to the response."
  },
  admissions: {
    id: "animal_store.admissions",
    prometheus: "animal_store_admissions_total",
    unit: "{request}",
    description: "Requests counted against rate limits, by decision and plan."
  },
  bans: {
    id: "animal_store.bans",
    prometheus: "animal_store_bans_total",
    unit: "{ban}",
    description: "API key bans that started, by plan."
  },
  callDuration: {
    id: "db.client.operation.duration",
    prometheus: "db_client_operation_duration_seconds",
    unit: "s",
    description: "Duration of database calls, including the wait for a connection or a group commit."
  },
  activeCalls: {
    id: "animal_store.db.operations.active",
    prometheus: "animal_store_db_operations_active",
    unit: "{operation}",
    description: "Database calls in progress."
  },
  groupSize: {
    id: "animal_store.commit.group.size",
    prometheus: "animal_store_commit_group_size",
    unit: "{operation}",
    description: "Calls that shared one transaction of SQLite or one statement of PostgreSQL."
  },
  delayMin: eventLoopDelay("min", "Minimum"),
  delayMax: eventLoopDelay("max", "Maximum"),
  delayMean: eventLoopDelay("mean", "Mean"),
  delayStddev: eventLoopDelay("stddev", "Standard deviation"),
  delayP50: eventLoopDelay("p50", "50th percentile"),
  delayP90: eventLoopDelay("p90", "90th percentile"),
  delayP99: eventLoopDelay("p99", "99th percentile"),
  utilization: {
    id: "nodejs.eventloop.utilization",
    prometheus: "nodejs_eventloop_utilization_ratio",
    unit: "1",
    description: "Fraction of time that the event loop was busy since the previous reading, from 0 to 1."
  },
  residentMemory: {
    id: "process.memory.usage",
    prometheus: "process_resident_memory_bytes",
    unit: "By",
    description: "Resident memory of the process."
  },
  cpuTime: {
    id: "process.cpu.time",
    prometheus: "process_cpu_seconds_total",
    unit: "s",
    description: "User and system CPU time of the process."
  },
  heapUsed: {
    id: "v8js.memory.heap.used",
    prometheus: "v8js_memory_heap_used_bytes",
    unit: "By",
    description: "Used memory in the JavaScript heap."
  },
  startTime: {
    id: "process.start_time",
    prometheus: "process_start_time_seconds",
    unit: "s",
    description: "Start time of the process, in seconds since 1970-01-01 UTC."
  }
} as const satisfies { readonly [name: string]: Instrument }

/** Returns the options of an Effect metric. The unit is an attribute, from which Effect's exporters take it. */
export const describe = (
  { description, unit }: Instrument,
  attributes: { readonly [name: string]: string } = {}
) => ({ description, attributes: { ...attributes, unit } })
