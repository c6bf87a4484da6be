/** Runs `serve` with several processes: the primary starts the workers, and does not serve requests itself. */
import * as Net from "node:net"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { ListenFailed } from "../../embed/index.ts"
import * as EffectEvent from "../../log/EffectEvent.ts"
import * as LogFormat from "../../log/LogFormat.ts"
import * as AdminServer from "../AdminServer.ts"
import * as Announcement from "../Announcement.ts"
import * as Database from "../Database.ts"
import * as Failure from "../Failure.ts"
import { Host } from "../Host.ts"
import * as Notice from "../Notice.ts"
import type * as Output from "../Output.ts"
import * as ServeFlags from "../ServeFlags.ts"
import * as StopSignal from "../StopSignal.ts"
import * as WholeLines from "./WholeLines.ts"
import * as WorkerPool from "./WorkerPool.ts"

/** Runs `count` workers until it is interrupted. */
export const run = Effect.fnUntraced(function* (
  flags: ServeFlags.Values,
  count: number
): Effect.fn.Return<never, Output.WriteFailed, Scope.Scope> {
  const { stderr } = yield* Host
  // Opened before the workers start: migrations run once, and errors are reported as a single process reports them.
  const opening = yield* Scope.fork(yield* Effect.scope)
  const store = yield* Scope.provide(
    Database.open({
      ...ServeFlags.storeOptions(flags, undefined, stderr.isTTY === true),
      metrics: false,
      accessLog: false
    }),
    opening
  )
  if (flags.listen.port !== 0) yield* Effect.mapError(requireFree(flags.listen), Failure.userError)
  const clock = yield* Clock.Clock
  const format = LogFormat.named(flags.store.logFormat ?? "text")
  const pool = yield* WorkerPool.make({
    count,
    port: flags.listen.port,
    isTerminal: stderr.isTTY === true,
    log: WholeLines.makeForward(stderr, (lines) =>
      format(EffectEvent.lost(lines, clock.currentTimeMillisUnsafe()))
    ),
    notice: (message, level) => Notice.print(flags.store, message, level)
  })
  const adminOrigin = yield* AdminServer.serve(store, flags, {
    page: (path) => Effect.runPromise(pageOf(pool, path)),
    readMetrics: () => Effect.runPromise(pool.samples)
  })
  const drain = yield* StopSignal.observe
  const port = yield* Effect.mapError(pool.started, ({ message }) => Failure.userError(new Error(message)))
  const running = Effect.gen(function* () {
    yield* Announcement.issueAndPrint(store, flags, port, adminOrigin)
    // The workers have the database open; without a console, the primary needs no connection.
    if (adminOrigin === undefined) yield* Scope.close(opening, Exit.void)
    return yield* Effect.never
  })
  return yield* Effect.onInterrupt(running, () =>
    Effect.andThen(Notice.stopping(flags, drain), pool.stop(flags.drainMs, drain.ended))
  )
})

/** Returns a page of the admin port; `/livez` and `/readyz` respond with 200 if at least one worker does. */
const pageOf = (pool: WorkerPool.WorkerPool, path: AdminServer.Path): Effect.Effect<AdminServer.Page> =>
  path === "/metrics"
    ? Effect.map(pool.metrics, (body) => ({ status: 200, body }))
    : Effect.map(
        pool.pages(path),
        (pages) => pages.find(({ status }) => status === 200) ?? pages[0] ?? NO_WORKER
      )

const NO_WORKER = { status: 503, body: '{"status":"no worker responds"}' }

/** Fails if another program listens on the port; called before any worker starts. */
const requireFree = ({ host, port }: ServeFlags.Values["listen"]): Effect.Effect<void, ListenFailed> =>
  Effect.callback((resume) => {
    const probe = Net.createServer()
    probe.once("error", (cause) => resume(Effect.fail(new ListenFailed({ host, port, cause }))))
    probe.listen({ host, port }, () => probe.close(() => resume(Effect.void)))
  })
