/**
 * Sends each command to the node of a Redis Cluster that owns the slot of its key, and follows the redirections `MOVED`
 * and `ASK`. The table of slots is read again after `MOVED`, or if a node cannot be reached, because a replica may have
 * replaced it.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"
import * as KeySlot from "./KeySlot.ts"
import * as RedisAddress from "./RedisAddress.ts"
import type { GiveUp, OnReply, RedisCommands } from "./RedisCommands.ts"
import * as RedisConnection from "./RedisConnection.ts"
import * as RedisFailure from "./RedisFailure.ts"

/** Minimum pause between two reads of the table, in milliseconds. */
const REFRESH_MS = 200

/** Maximum number of redirections per command; more redirections mean that the nodes disagree. */
const MAX_REDIRECTIONS = 5

interface Node {
  readonly host: RedisAddress.Host
  readonly connection: RedisConnection.RedisConnection
}

/**
 * Connects to the cluster that `hosts` belong to. Fails if no host returns the table of slots. Nodes that cannot be
 * reached are retried until the scope closes.
 */
export const make = Effect.fnUntraced(function* (
  hosts: ReadonlyArray<RedisAddress.Host>,
  options: RedisConnection.RedisConnectionOptions
): Effect.fn.Return<RedisCommands, RedisFailure.CommandFailed, Scope.Scope> {
  const context: Context.Context<never> = yield* Effect.context<never>()
  const nodes = new Map<string, Node>()
  const isStale = Latch.makeUnsafe(false)
  let slots: ReadonlyArray<Node | undefined> = []

  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      for (const { connection } of nodes.values()) connection.close()
    })
  )

  const nodeAt = (host: RedisAddress.Host): Node => {
    const name = RedisAddress.textOf(host)
    const existing = nodes.get(name)
    if (existing !== undefined) return existing
    const node = { host, connection: RedisConnection.start(host, options, context) }
    nodes.set(name, node)
    return node
  }

  const readTable = (node: Node): Effect.Effect<ReadonlyArray<Range>, RedisFailure.CommandFailed> =>
    Effect.andThen(
      Effect.exit(node.connection.firstAttempt),
      RedisConnection.call(node.connection, ["CLUSTER", "SLOTS"])
    ).pipe(
      Effect.flatMap((reply) => rangesOf(reply, node.host)),
      RedisFailure.withTimeout(options.timeoutMs)
    )

  /** Reads the table from the first node that returns it: connected nodes, then other known nodes, then given hosts. */
  const refresh = Effect.gen(function* () {
    const known = [...nodes.values()]
    const byReadiness = [
      ...known.filter(({ connection }) => connection.isReady()),
      ...known.filter(({ connection }) => !connection.isReady())
    ]
    const others = hosts.filter((host) => !nodes.has(RedisAddress.textOf(host)))
    const ranges = yield* Effect.firstSuccessOf([
      ...byReadiness.map(readTable),
      // These hosts are connected only if no known node returns the table.
      ...others.map((host) => Effect.suspend(() => readTable(nodeAt(host))))
    ])
    const current = new Set<Node>()
    const table = new Array<Node | undefined>(KeySlot.SLOTS).fill(undefined)
    for (const { from, host, to } of ranges) {
      const node = nodeAt(host)
      current.add(node)
      table.fill(node, from, to + 1)
    }
    // Commands fail without a connection, so the table is used after the first attempts to connect.
    yield* Effect.forEach(current, ({ connection }) => Effect.exit(connection.firstAttempt), {
      concurrency: "unbounded",
      discard: true
    })
    slots = table
    for (const [name, node] of nodes) {
      if (current.has(node)) continue
      nodes.delete(name)
      node.connection.close()
    }
  })

  yield* refresh
  yield* Effect.forkScoped(
    Effect.forever(
      Effect.gen(function* () {
        yield* isStale.await
        isStale.closeUnsafe()
        yield* Effect.ignore(refresh)
        yield* Effect.sleep(REFRESH_MS)
      })
    )
  )

  return {
    send: (key, command, onReply) => {
      const slot = KeySlot.of(key)
      let giveUp: GiveUp = () => {}
      let isGivenUp = false

      const sendTo = (node: Node, redirections: number, isAsking: boolean): void => {
        if (!node.connection.isReady()) isStale.openUnsafe()
        // The server processes both commands in order, because they are sent on one connection.
        if (isAsking) node.connection.send(["ASKING"], ignoreReply)
        giveUp = node.connection.send(command, (exit) => {
          const redirection = redirectionOf(RedisFailure.errorReplyIn(exit), node.host)
          if (redirection === undefined) return onReply(exit)
          if (redirection.isMoved) isStale.openUnsafe()
          if (redirections === MAX_REDIRECTIONS) return onReply(exit)
          const next = nodeAt(redirection.host)
          if (next.connection.isReady()) return sendTo(next, redirections + 1, !redirection.isMoved)
          // Waits for the connection to a new node, at most until the deadline of the call.
          Effect.runForkWith(context)(Effect.exit(next.connection.firstAttempt)).addObserver(() => {
            if (!isGivenUp) sendTo(next, redirections + 1, !redirection.isMoved)
          })
        })
      }

      const owner = slots[slot]
      if (owner === undefined) {
        isStale.openUnsafe()
        onReply(Exit.fail(RedisFailure.because(`no node of the Redis Cluster owns slot ${slot}`)))
      } else {
        sendTo(owner, 0, false)
      }
      return () => {
        isGivenUp = true
        giveUp()
      }
    }
  }
})

const ignoreReply: OnReply = () => {}

interface Range {
  readonly from: number
  readonly to: number
  readonly host: RedisAddress.Host
}

/** Decodes `CLUSTER SLOTS`: ranges of slots, each with its primary as the first node. Fails if a range is invalid. */
const rangesOf = (
  reply: unknown,
  sender: RedisAddress.Host
): Effect.Effect<ReadonlyArray<Range>, RedisFailure.CommandFailed> => {
  const ranges = Array.isArray(reply) ? reply.map((entry) => rangeOf(entry, sender)) : []
  const valid = ranges.filter((range) => range !== undefined)
  return valid.length > 0 && valid.length === ranges.length
    ? Effect.succeed(valid)
    : Effect.fail(RedisFailure.because("the node returned no valid slots of a Redis Cluster"))
}

const rangeOf = (entry: unknown, sender: RedisAddress.Host): Range | undefined => {
  if (!Array.isArray(entry)) return undefined
  const [from, to, primary]: ReadonlyArray<unknown> = entry
  if (typeof from !== "number" || typeof to !== "number" || !Array.isArray(primary)) return undefined
  const [host, port]: ReadonlyArray<unknown> = primary
  if (typeof port !== "number") return undefined
  return { from, to, host: { host: knownHost(host) ?? sender.host, port } }
}

/** Returns the host; `undefined` if the reply contains none, because the node has not detected its own address. */
const knownHost = (host: unknown): string | undefined =>
  typeof host === "string" && host !== "" && host !== "?" ? host : undefined

interface Redirection {
  readonly isMoved: boolean
  readonly host: RedisAddress.Host
}

const REDIRECTION = /^(MOVED|ASK) \d+ (.*):(\d+)$/

/** Decodes `MOVED slot host:port` and `ASK slot host:port`; returns `undefined` for other replies. */
const redirectionOf = (reply: string, sender: RedisAddress.Host): Redirection | undefined => {
  const [, kind, host, port] = REDIRECTION.exec(reply) ?? []
  if (kind === undefined) return undefined
  return { isMoved: kind === "MOVED", host: { host: knownHost(host) ?? sender.host, port: Number(port) } }
}
