/**
 * Batches the requests from each caller: while a call for a caller is in flight, its further requests wait, and then
 * share the next call. If no call for the caller is in flight, a request is sent immediately.
 */
import type * as Exit from "effect/Exit"
import type { Submit } from "../storage/BoundedCall.ts"
import { LinkedQueue } from "../storage/LinkedQueue.ts"
import type { GiveUp } from "./RedisCommands.ts"
import type { CommandFailed } from "./RedisFailure.ts"

/** Sends requests from one caller in one call; `done` receives the results in the order of the requests. */
export type Send<Request, Result> = (
  caller: string,
  requests: ReadonlyArray<Request>,
  done: (results: ReadonlyArray<Exit.Exit<Result, CommandFailed>>) => void
) => GiveUp

/** Maximum number of requests in one call, because Redis runs nothing else during a script. */
const MAX_BATCH = 100

interface Member<Request, Result> {
  readonly request: Request
  /** Absent once the request is canceled. */
  done: ((result: Exit.Exit<Result, CommandFailed>) => void) | undefined
  /** Called when the request is canceled. */
  onCancel: () => void
}

/** Creates the queues of all callers. A queue exists only while a call of its caller is in flight. */
export const make = <Request, Result>(
  send: Send<Request, Result>
): ((caller: string, request: Request) => Submit<Result, CommandFailed>) => {
  const queues = new Map<string, LinkedQueue<Member<Request, Result>>>()

  const sendNext = (caller: string, queue: LinkedQueue<Member<Request, Result>>): void => {
    const batch: Array<Member<Request, Result>> = []
    while (batch.length < MAX_BATCH) {
      const member = queue.shift()
      if (member === undefined) break
      batch.push(member)
    }
    if (batch.length === 0) {
      queues.delete(caller)
      return
    }
    let remaining = batch.length
    let isOver = false
    let giveUp: GiveUp = () => {}
    for (const member of batch) {
      member.onCancel = () => {
        if (--remaining > 0 || isOver) return
        // All requests of this call are canceled, so it must not delay the requests that wait.
        isOver = true
        giveUp()
        sendNext(caller, queue)
      }
    }
    const requests = batch.map(({ request }) => request)
    giveUp = send(caller, requests, (results) => {
      if (isOver) return
      isOver = true
      sendNext(caller, queue)
      for (const [index, { done }] of batch.entries()) {
        const result = results[index]
        if (result !== undefined) done?.(result)
      }
    })
  }

  return (caller, request) => (done) => {
    const queue = queues.get(caller)
    const waiting = queue ?? new LinkedQueue()
    const member: Member<Request, Result> = { request, done, onCancel: () => {} }
    const place = waiting.add(member)
    member.onCancel = () => waiting.remove(place)
    if (queue === undefined) {
      queues.set(caller, waiting)
      sendNext(caller, waiting)
    }
    return () => {
      if (member.done === undefined) return
      member.done = undefined
      member.onCancel()
    }
  }
}
