import * as Exit from "effect/Exit"
import { expect, it } from "vitest"
import * as Batch from "./Batch.ts"
import * as KeyedQueues from "./KeyedQueues.ts"

it("KeyedQueues removes the queue of a key when it is idle", () => {
  const runs: Array<{ readonly members: ReadonlyArray<string>; readonly complete: () => void }> = []
  const queues = KeyedQueues.make<string, string, never>({
    keyOf: (member) => member.slice(0, 1),
    create: (onIdle) =>
      Batch.makeWithCallbacks(
        {
          maxSize: 10,
          concurrency: 1,
          run: ({ take }, end) => {
            const members = take()
            runs.push({ members, complete: () => end(Exit.succeed(members.map(Exit.succeed))) })
            return () => end(Exit.succeed([]))
          }
        },
        onIdle
      )
  })
  const completions: Array<string> = []
  const submit = (member: string) =>
    queues.submit(member, (exit) => completions.push(`${member} ${exit._tag}`))

  submit("a1")
  submit("b1")
  submit("a2")
  expect(runs.map(({ members }) => members)).toEqual([["a1"], ["b1"]])
  runs[0]?.complete()
  expect(completions).toEqual(["a1 Success"])
  const withdraw = submit("a3")
  runs[2]?.complete()
  expect(completions).toEqual(["a1 Success", "a2 Success"])
  expect([queues.has("a"), queues.has("b")]).toEqual([true, true])
  withdraw()
  withdraw()
  runs[1]?.complete()
  expect([queues.has("a"), queues.has("b")]).toEqual([false, false])
  submit("a4")
  runs.at(-1)?.complete()
  expect(completions).toEqual(["a1 Success", "a2 Success", "b1 Success", "a4 Success"])
  expect(queues.has("a")).toBe(false)
})
