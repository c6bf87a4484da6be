import { describe, expect, it } from "vitest"
import * as Workload from "./Workload.ts"

const COUNT = 20_000

const countBy = <A>(values: ReadonlyArray<A>, keyOf: (value: A) => string | number) => {
  const counts = new Map<string | number, number>()
  for (const value of values) counts.set(keyOf(value), (counts.get(keyOf(value)) ?? 0) + 1)
  return counts
}

const contentOf = ({ body, cursor, target }: Workload.PlannedRequest) =>
  JSON.stringify([target, cursor, body])
const consecutivePairs = (requests: ReadonlyArray<Workload.PlannedRequest>) =>
  requests.slice(1).map((request, index) => [requests[index] ?? request, request] as const)

describe("the mix", () => {
  const requests = Workload.plan(Workload.mix, 1, COUNT)

  it("has shares that add up to 100 percent", () => {
    expect(Object.values(Workload.mix.shares).reduce((sum, share) => sum + share, 0)).toBe(100)
  })

  it.each(Object.entries(Workload.mix.shares))(
    "has %s requests with a share of %d percent",
    (kind, share) => {
      const found = requests.filter((request) => request.kind === kind).length
      expect(Math.abs((found / COUNT) * 100 - share)).toBeLessThan(1)
    }
  )

  it("has the same requests for the same seed, and different requests for another seed", () => {
    expect(Workload.plan(Workload.mix, 1, 100)).toEqual(requests.slice(0, 100))
    expect(Workload.plan(Workload.mix, 2, 100)).not.toEqual(requests.slice(0, 100))
  })

  it("uses hundreds of keys, and a few of them often", () => {
    const senders = countBy(
      requests.filter(({ sender }) => sender.kind === "unlimited"),
      ({ sender }) => sender.index
    )
    expect(senders.size).toBeGreaterThan(900)
    expect(senders.get(0) ?? 0).toBeGreaterThan(20 * (senders.get(99) ?? 0))
  })

  it("creates different animals", () => {
    const bodies = requests.filter(({ kind }) => kind === "create").map(({ body }) => body)
    expect(new Set(bodies).size).toBeGreaterThan(bodies.length * 0.99)
  })
})

describe("the workload of a single operation", () => {
  it.each(Workload.operations)(
    "has no two consecutive requests with the same key or the same content: $name",
    (workload) => {
      for (const [first, second] of consecutivePairs(Workload.plan(workload, 3, 2_000))) {
        expect(contentOf(first)).not.toBe(contentOf(second))
        if (first.sender.kind !== "absent") expect(first.sender).not.toEqual(second.sender)
      }
    }
  )
})
