/**
 * Hands connections to another worker if their worker exited before it accepted them. `node:cluster` would keep them
 * open, and their clients would wait forever.
 *
 * The primary sends each connection as a message with a number, and the worker confirms it with the same number before
 * it reads from the connection. A connection without a confirmation is therefore untouched. This relies on the format
 * of messages inside Node (`NODE_CLUSTER`); if it changes, this module does nothing, and `Workers.test.ts` fails.
 */
import type { Worker } from "node:cluster"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as WorkerExit from "./WorkerExit.ts"

const decodeHandOff = Schema.decodeUnknownOption(
  Schema.Struct({ cmd: Schema.Literal("NODE_CLUSTER"), act: Schema.Literal("newconn"), seq: Schema.Int })
)
const decodeConfirmation = Schema.decodeUnknownOption(
  Schema.Struct({ cmd: Schema.Literal("NODE_CLUSTER"), ack: Schema.Int })
)

/** Hands the unconfirmed connections of `worker` to other workers when it exits; call this before it listens. */
export const returnUnconfirmed = (worker: Worker): void => {
  const channel = worker.process
  const unconfirmed = new Set<number>()
  const send = channel.send.bind(channel)
  channel.send = (message: Parameters<typeof send>[0], ...rest: ReadonlyArray<unknown>) => {
    const handOff = Option.getOrUndefined(decodeHandOff(message))
    if (handOff !== undefined) unconfirmed.add(handOff.seq)
    // The arguments of the caller are passed on unchanged, so they fit one of the overloads.
    return (send as (...given: ReadonlyArray<unknown>) => boolean)(message, ...rest)
  }
  channel.on("internalMessage", (message: unknown) => {
    const confirmation = Option.getOrUndefined(decodeConfirmation(message))
    if (confirmation !== undefined) unconfirmed.delete(confirmation.ack)
  })
  WorkerExit.once(worker, () => {
    // Imitates a worker that rejects the connection; Node expects this from a worker that closes its server.
    for (const seq of unconfirmed) {
      channel.emit("internalMessage", { cmd: "NODE_CLUSTER", ack: seq, accepted: false })
    }
  })
}
