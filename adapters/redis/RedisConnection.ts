/**
 * Maintains a connection to one Redis server, and replaces a connection that breaks or hangs. The driver's own
 * reconnection is disabled: it has no deadline for the login, and its queues grow while a server hangs.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { createClient } from "redis"
import * as RedisAddress from "./RedisAddress.ts"
import type { Command, GiveUp, OnReply } from "./RedisCommands.ts"
import * as RedisFailure from "./RedisFailure.ts"

/** Options of a connection. */
export interface RedisConnectionOptions
  extends Pick<RedisAddress.RedisAddress, "isTls" | "username" | "password" | "database"> {
  /** Timeout for connecting and logging in, in milliseconds; a server that is silent for this long counts as hung. */
  readonly timeoutMs: number
}

/** A connection that is replaced whenever it ends, until it is closed. */
export interface RedisConnection {
  /** Sends a command; fails immediately while there is no connection. */
  readonly send: (command: Command, onReply: OnReply) => GiveUp
  /** Whether there is a connection. */
  readonly isReady: () => boolean
  /** The result of the first attempt to connect. */
  readonly firstAttempt: Effect.Effect<void, RedisFailure.CommandFailed>
  /** Closes the connection immediately; commands without a reply fail. */
  readonly close: () => void
}

/**
 * Pause after a failed attempt to connect, in milliseconds; it doubles after each failure, up to the maximum. A stable
 * connection is replaced without a pause, because requests fail until then.
 */
const MIN_PAUSE_MS = 20
const MAX_PAUSE_MS = 500

/** Minimum duration of a stable connection, in nanoseconds; a shorter one counts as a failed attempt. */
const STABLE_NANOS = 1_000_000_000n

const NANOS_PER_MS = 1_000_000

interface Session {
  readonly client: Client
  readonly startedAt: bigint
  /** Number of commands without a reply. */
  waiting: number
  /** Monotonic time in nanoseconds of the latest reply, or of a later command that was sent while no other waited. */
  silentSince: bigint
  readonly end: (reason: RedisFailure.CommandFailed) => void
}

/** Starts a connection without waiting for it. */
export const start = (
  host: RedisAddress.Host,
  options: RedisConnectionOptions,
  context: Context.Context<never>
): RedisConnection => {
  const { timeoutMs } = options
  const timeoutNanos = BigInt(timeoutMs * NANOS_PER_MS)
  const firstAttempt = Deferred.makeUnsafe<void, RedisFailure.CommandFailed>()
  const clock = Context.get(context, Clock.Clock)
  let session: Session | undefined
  /** The reason why there is no session. */
  let lostReason = RedisFailure.because("it is not connected yet")

  const connect = Effect.callback<Client, RedisFailure.CommandFailed>((resume) => {
    const client = clientOf(host, options)
    let isAbandoned = false
    // Without a listener, an error would crash the process. `connect` also rejects with the error.
    client.on("error", () => {})
    // If a client is destroyed while it connects, the driver still uses the new socket and waits for the login.
    client.on("connect", () => {
      if (isAbandoned) client.destroy()
    })
    client.connect().then(
      // A client that is destroyed while its socket connects would keep that socket open.
      () => (isAbandoned ? client.destroy() : resume(Effect.succeed(client))),
      (error: unknown) => {
        client.destroy()
        resume(Effect.fail(RedisFailure.of(error)))
      }
    )
    return Effect.sync(() => {
      isAbandoned = true
      client.destroy()
    })
  }).pipe(RedisFailure.withTimeout(timeoutMs))

  /** Uses a connection until it ends; returns whether it was stable. */
  const useUntilEnd = (client: Client): Effect.Effect<boolean> =>
    Effect.callback((resume) => {
      const startedAt = clock.monotonicTimeNanosUnsafe()
      let isOver = false
      const end = (reason: RedisFailure.CommandFailed): void => {
        if (isOver) return
        isOver = true
        lostReason = reason
        if (session === newSession) session = undefined
        client.destroy()
        resume(Effect.succeed(clock.monotonicTimeNanosUnsafe() - startedAt > STABLE_NANOS))
      }
      const newSession: Session = { client, startedAt, waiting: 0, silentSince: startedAt, end }
      client.on("error", (error: unknown) => end(RedisFailure.of(error)))
      client.on("end", () => end(RedisFailure.because("the server closed the connection")))
      if (client.isReady) session = newSession
      else end(RedisFailure.because("the server closed the connection"))
      Deferred.doneUnsafe(firstAttempt, Effect.void)
      return Effect.sync(() => end(RedisFailure.because("it was closed")))
    })

  const reconnectForever = Effect.gen(function* () {
    let pauseMs = 0
    while (true) {
      const attempt = yield* Effect.exit(connect)
      const isStable = yield* Exit.match(attempt, {
        onFailure: (cause) => {
          lostReason = Option.getOrElse(Exit.findErrorOption(attempt), () => lostReason)
          return Effect.as(Deferred.failCause(firstAttempt, cause), false)
        },
        onSuccess: useUntilEnd
      })
      pauseMs = isStable ? 0 : Math.min(Math.max(pauseMs * 2, MIN_PAUSE_MS), MAX_PAUSE_MS)
      yield* Effect.sleep(pauseMs)
    }
  })

  const fiber = Effect.runForkWith(context)(reconnectForever)

  return {
    send: (command, onReply) => {
      const current = session
      if (current === undefined) {
        const reason = `no connection to Redis at ${RedisAddress.textOf(host)}: ${RedisFailure.detailOf(lostReason)}`
        onReply(Exit.fail(RedisFailure.because(reason)))
        return doNothing
      }
      if (current.waiting++ === 0) current.silentSince = clock.monotonicTimeNanosUnsafe()
      const recordReply = (): void => {
        current.waiting--
        current.silentSince = clock.monotonicTimeNanosUnsafe()
      }
      current.client.sendCommand(command).then(
        (reply) => {
          recordReply()
          onReply(Exit.succeed(reply))
        },
        (error: unknown) => {
          recordReply()
          const failure = new RedisFailure.CommandFailed({ cause: error })
          // After a failover, only a new connection reaches the new primary.
          const isWrongServer = RedisFailure.causeOf(failure) === "connection"
          if (isWrongServer && current.silentSince - current.startedAt > STABLE_NANOS) current.end(failure)
          onReply(Exit.fail(failure))
        }
      )
      return () => {
        const silentNanos = clock.monotonicTimeNanosUnsafe() - current.silentSince
        if (current.waiting > 0 && silentNanos >= timeoutNanos) {
          current.end(RedisFailure.because(`no response within ${timeoutMs} ms`))
        }
      }
    },
    isReady: () => session !== undefined,
    firstAttempt: Deferred.await(firstAttempt),
    close: () => {
      fiber.interruptUnsafe()
      Deferred.doneUnsafe(firstAttempt, Effect.fail(RedisFailure.because("the connection was closed")))
    }
  }
}

/** Sends a command and waits for its reply. */
export const call = (
  connection: RedisConnection,
  command: Command
): Effect.Effect<unknown, RedisFailure.CommandFailed> =>
  Effect.callback((resume) => {
    const giveUp = connection.send(command, resume)
    return Effect.sync(giveUp)
  })

const clientOf = (
  { host, port }: RedisAddress.Host,
  { database, isTls, password, timeoutMs, username }: RedisConnectionOptions
) =>
  createClient({
    socket: {
      ...{ host, port, connectTimeout: timeoutMs, reconnectStrategy: false as const },
      ...(isTls ? { tls: true } : {})
    },
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password: Redacted.value(password) }),
    database,
    name: "animal-store",
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: "disabled",
    // The stores have their own deadlines, and the driver's would cost a timer for each command.
    commandOptions: { timeout: 0 }
  })

type Client = ReturnType<typeof clientOf>

const doNothing: GiveUp = () => {}
