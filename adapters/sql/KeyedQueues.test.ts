import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Batch from "../storage/Batch.ts"
import * as KeyedQueues from "./KeyedQueues.ts"

it.effect("KeyedQueues removes the queue of a key when its last member completes or is withdrawn", () =>
  Effect.gen(function* () {
    const runs: Array<{ readonly members: ReadonlyArray<string>; readonly complete: () => void }> = []
    const queues = yield* KeyedQueues.make<string, string, never>({
      keyOf: (member) => member.slice(0, 1),
      create: Batch.make<string, string, never>({
        maxSize: 10,
        concurrency: 1,
        run: ({ take }) =>
          Effect.callback((resume) => {
            const members = take()
            runs.push({ members, complete: () => resume(Exit.succeed(members.map(Exit.succeed))) })
          })
      })
    })
    const completions: Array<string> = []
    const submit = (member: string) =>
      queues.submit(member, (exit) => completions.push(`${member} ${exit._tag}`))
    const runOtherFibers = Effect.repeat(Effect.yieldNow, { times: 4 })

    submit("a1")
    submit("b1")
    submit("a2")
    yield* runOtherFibers
    expect(runs.map(({ members }) => members)).toEqual([["a1", "a2"], ["b1"]])
    const withdraw = submit("a3")
    runs[0]?.complete()
    expect(completions).toEqual(["a1 Success", "a2 Success"])
    expect([queues.has("a"), queues.has("b")]).toEqual([true, true])
    withdraw()
    withdraw()
    runs[1]?.complete()
    expect([queues.has("a"), queues.has("b")]).toEqual([false, false])
    submit("a4")
    yield* runOtherFibers
    runs.at(-1)?.complete()
    expect(completions).toEqual(["a1 Success", "a2 Success", "b1 Success", "a4 Success"])
    expect(queues.has("a")).toBe(false)
  })
)
