/**
 * Connections that were handed to a worker which ended before it accepted them. `node:cluster` would keep them open, and
 * their clients would wait for ever. Here they go to another worker.
 *
 * The primary sends each connection as a message with a number, and the worker confirms it with the same number before it
 * reads from the connection. A connection without a confirmation is therefore untouched. This relies on the form of
 * messages inside Node (`NODE_CLUSTER`); if it changes, nothing happens here, and `Workers.test.ts` fails.
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

/** Hands unconfirmed connections to another worker when this one ends; call it before the worker listens. */
export const returnUnconfirmed = (worker: Worker): void => {
  const channel = worker.process
  const unconfirmed = new Set<number>()
  const send = channel.send.bind(channel)
  channel.send = (message: Parameters<typeof send>[0], ...rest: ReadonlyArray<unknown>) => {
    const handOff = Option.getOrUndefined(decodeHandOff(message))
    if (handOff !== undefined) unconfirmed.add(handOff.seq)
    // The arguments are those of one of the overloads, unchanged.
    return (send as (...given: ReadonlyArray<unknown>) => boolean)(message, ...rest)
  }
  channel.on("internalMessage", (message: unknown) => {
    const confirmation = Option.getOrUndefined(decodeConfirmation(message))
    if (confirmation !== undefined) unconfirmed.delete(confirmation.ack)
  })
  WorkerExit.once(worker, () => {
    // As if the worker had rejected the connection, which Node expects when a worker closes its server.
    for (const seq of unconfirmed) {
      channel.emit("internalMessage", { cmd: "NODE_CLUSTER", ack: seq, accepted: false })
    }
  })
}
