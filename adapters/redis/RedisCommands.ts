/** Commands to Redis, on one server or on the nodes of a cluster. */
import type * as Exit from "effect/Exit"
import type { CommandFailed } from "./RedisFailure.ts"

/** A command with its arguments. */
export type Command = ReadonlyArray<string>

/** Receives the reply of a command, or the reason why there is none; is called once, possibly at once. */
export type OnReply = (exit: Exit.Exit<unknown, CommandFailed>) => void

/**
 * Gives a command up whose reply no longer matters. The server may still run it. If it should have replied long ago, its
 * connection is replaced.
 */
export type GiveUp = () => void

/** Sends commands. A command fails at once while its server is out of reach; nothing is queued for later. */
export interface RedisCommands {
  /** Sends a command to the server that holds `key`. */
  readonly send: (key: string, command: Command, onReply: OnReply) => GiveUp
}
