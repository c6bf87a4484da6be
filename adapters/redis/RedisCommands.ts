/** Defines how commands are sent to Redis: to one server, or to the nodes of a cluster. */
import type * as Exit from "effect/Exit"
import type { CommandFailed } from "./RedisFailure.ts"

/** A command with its arguments. */
export type Command = ReadonlyArray<string>

/** Receives the reply to a command, or the reason why the command failed; called once, possibly synchronously. */
export type OnReply = (exit: Exit.Exit<unknown, CommandFailed>) => void

/**
 * Abandons a command whose reply is no longer needed; the server may still run it. If the server has been silent for
 * the timeout, its connection is replaced.
 */
export type GiveUp = () => void

/** Sends commands. A command fails immediately while its server has no connection; nothing is queued for later. */
export interface RedisCommands {
  /** Sends a command to the server that holds `key`. */
  readonly send: (key: string, command: Command, onReply: OnReply) => GiveUp
}
