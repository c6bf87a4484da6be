/** Registers the metrics of the process, which are read when metrics are exported. */
import { type EventLoopUtilization, monitorEventLoopDelay, performance } from "node:perf_hooks"
import type * as Clock from "effect/Clock"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type * as Scope from "effect/Scope"
import { describe, type Instrument, instruments } from "./Instruments.ts"

/** Milliseconds between two samples of the event loop; Node records the time between samples. */
const RESOLUTION_MS = 20

/** Nanoseconds for which a reading of the event loop is reused, so that several exporters get the same values. */
const WINDOW_NANOS = 5_000_000_000n

const NANOS_PER_MS = 1_000_000
const NANOS_PER_SECOND = 1_000_000_000
const MICROS_PER_SECOND = 1_000_000

/** Delays of the event loop since the previous reading, in seconds, and its utilization, from 0 to 1. */
interface EventLoop {
  readonly min: number
  readonly max: number
  readonly mean: number
  readonly stddev: number
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly utilization: number
}

/** Adds the metrics to the registry in `context`; the event loop is measured until the scope closes. */
export const register = (
  context: Context.Context<never>,
  clock: Clock.Clock
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.map(eventLoop(clock), (loop) => {
    const gauge = (instrument: Instrument, value: () => number): void => {
      Metric.registerUnsafe(Metric.gauge(instrument.id, describe(instrument)), context, {
        get: () => ({ value: value() }),
        update: () => undefined,
        modify: () => undefined
      })
    }
    gauge(instruments.delayMin, () => loop().min)
    gauge(instruments.delayMax, () => loop().max)
    gauge(instruments.delayMean, () => loop().mean)
    gauge(instruments.delayStddev, () => loop().stddev)
    gauge(instruments.delayP50, () => loop().p50)
    gauge(instruments.delayP90, () => loop().p90)
    gauge(instruments.delayP99, () => loop().p99)
    gauge(instruments.utilization, () => loop().utilization)
    gauge(instruments.residentMemory, () => process.memoryUsage.rss())
    gauge(instruments.heapUsed, () => process.memoryUsage().heapUsed)
    const startTime = performance.timeOrigin / 1000
    gauge(instruments.startTime, () => startTime)
    Metric.registerUnsafe(
      Metric.counter(instruments.cpuTime.id, { ...describe(instruments.cpuTime), incremental: true }),
      context,
      {
        get: () => ({ count: cpuSeconds(), incremental: true }),
        update: () => undefined,
        modify: () => undefined
      }
    )
  })

const cpuSeconds = (): number => {
  const { system, user } = process.cpuUsage()
  return (system + user) / MICROS_PER_SECOND
}

const eventLoop = (clock: Clock.Clock): Effect.Effect<() => EventLoop, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => {
        const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
        histogram.enable()
        return histogram
      }),
      (histogram) => Effect.sync(() => histogram.disable())
    ),
    (histogram) => {
      let usage: EventLoopUtilization = performance.eventLoopUtilization()
      let readAt = clock.monotonicTimeNanosUnsafe()
      let latest: EventLoop | undefined
      // Node records the whole time between two samples. Without samples, its values are meaningless, for example NaN.
      const delay = (nanos: number): number =>
        histogram.count === 0 ? 0 : Math.max(nanos - RESOLUTION_MS * NANOS_PER_MS, 0) / NANOS_PER_SECOND
      return () => {
        const now = clock.monotonicTimeNanosUnsafe()
        if (latest !== undefined && now - readAt < WINDOW_NANOS) return latest
        const used = performance.eventLoopUtilization()
        latest = {
          min: delay(histogram.min),
          max: delay(histogram.max),
          mean: delay(histogram.mean),
          stddev: histogram.count === 0 ? 0 : histogram.stddev / NANOS_PER_SECOND,
          p50: delay(histogram.percentile(50)),
          p90: delay(histogram.percentile(90)),
          p99: delay(histogram.percentile(99)),
          utilization: performance.eventLoopUtilization(used, usage).utilization
        }
        usage = used
        readAt = now
        histogram.reset()
        return latest
      }
    }
  )
