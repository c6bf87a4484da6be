import { setImmediate } from "node:timers/promises"
import * as fc from "fast-check"
import { afterEach, describe, expect, it, vi } from "vitest"
import { ByteBudget, type Kind } from "./ByteBudget.ts"

const LIMIT = 1_000
const MAX_CREATING = 300
const callers = ["a", "b", "c"] as const

type Command =
  | { readonly do: "reserve"; readonly kind: Kind; readonly caller: string; readonly bytes: number }
  | { readonly do: "release" | "cancel"; readonly pick: number }
  | { readonly do: "spend"; readonly bytes: number }
  | { readonly do: "turn" }

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("reserve" as const),
      kind: fc.constantFrom<Kind>("response", "body"),
      caller: fc.constantFrom(...callers),
      bytes: fc.integer({ min: 1, max: 2 * LIMIT })
    })
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom("release", "cancel"), pick: fc.nat() }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("spend" as const), bytes: fc.constantFrom(1, 300_000) })
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("turn" as const) }) }
)

interface Reservation {
  readonly id: number
  readonly kind: Kind
  readonly caller: string
  readonly bytes: number
  cancel: () => void
}

/** Applies commands to a budget, and checks its laws against a list of what was granted and what waits. */
class Model {
  readonly budget = new ByteBudget(LIMIT, MAX_CREATING)
  readonly granted: Array<Reservation> = []
  waiting: Array<Reservation> = []
  #nextId = 0

  async apply(given: Command): Promise<void> {
    if (given.do === "turn") await setImmediate()
    else if (given.do === "spend") this.budget.spend(given.bytes)
    else if (given.do === "reserve") this.#reserve(given.kind, given.caller, given.bytes)
    else if (given.do === "release") this.#release(given.pick)
    else this.#cancel(given.pick)
    this.check()
  }

  async releaseAll(): Promise<void> {
    while (this.granted.length + this.waiting.length > 0) {
      while (this.granted.length > 0) this.#release(0)
      await setImmediate()
      await setImmediate()
      this.check()
    }
  }

  check(): void {
    expect(this.budget.used).toBe(sum(this.granted))
    expect(this.budget.used).toBeLessThanOrEqual(LIMIT)
    expect(this.budget.isWaiting).toBe(this.waiting.length > 0)
    const responses = this.granted.filter(({ kind }) => kind === "response")
    if (responses.length > 1) expect(sum(responses)).toBeLessThanOrEqual(MAX_CREATING)
    expect(sum(this.waiting.filter(({ kind }) => kind === "body"))).toBeLessThanOrEqual(LIMIT / 4)
  }

  #reserve(kind: Kind, caller: string, given: number): void {
    const reservation: Reservation = {
      id: this.#nextId++,
      kind,
      caller,
      bytes: this.budget.sizeOf(given),
      cancel: () => {}
    }
    const free = LIMIT - this.budget.used
    if (this.budget.tryReserve(kind, caller, reservation.bytes)) {
      // What waits goes first, and a part of the budget remains free for others.
      expect(this.waiting.filter((other) => other.caller === caller)).toEqual([])
      expect(
        sum(this.granted.filter((other) => other.caller === caller)) + reservation.bytes
      ).toBeLessThanOrEqual(free)
      this.granted.push(reservation)
      return
    }
    let isRejected = false
    const cancel = this.budget.wait(kind, caller, reservation.bytes, (isReserved) => {
      if (!isReserved) {
        isRejected = true
        return
      }
      // First come, first served among the reservations of one caller.
      expect(this.waiting.find((other) => other.caller === caller)?.id).toBe(reservation.id)
      this.waiting = this.waiting.filter(({ id }) => id !== reservation.id)
      this.granted.push(reservation)
    })
    reservation.cancel = cancel
    if (isRejected) expect(kind).toBe("body")
    else this.waiting.push(reservation)
  }

  #release(pick: number): void {
    const [reservation] = this.granted.splice(pick % Math.max(1, this.granted.length), 1)
    if (reservation !== undefined)
      this.budget.release(reservation.kind, reservation.caller, reservation.bytes)
  }

  #cancel(pick: number): void {
    const [reservation] = this.waiting.splice(pick % Math.max(1, this.waiting.length), 1)
    reservation?.cancel()
  }
}

const sum = (reservations: ReadonlyArray<Reservation>): number =>
  reservations.reduce((total, { bytes }) => total + bytes, 0)

describe("a budget", () => {
  it("never exceeds its limit, serves each caller in order, and is empty after everything is released", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 60 }), async (commands) => {
        const model = new Model()
        for (const given of commands) await model.apply(given)
        await model.releaseAll()
        expect(model.budget.used).toBe(0)
      }),
      { numRuns: 200 }
    )
  })

  it("leaves a part for other callers, whatever the first ones hold", () => {
    const budget = new ByteBudget(LIMIT)
    const hogs = ["w", "x", "y", "z"]
    for (let round = 0; round < LIMIT; round++) for (const hog of hogs) budget.tryReserve("body", hog, 1)
    expect(budget.used).toBeLessThanOrEqual((LIMIT * 4) / 5)
    expect(budget.tryReserve("body", "polite", LIMIT / 5)).toBe(true)
  })

  it("serves callers in turn, so that one request does not wait for all earlier requests of another caller", async () => {
    const budget = new ByteBudget(LIMIT)
    budget.add("other", LIMIT)
    const started: Array<string> = []
    const waitFor = (caller: string) => budget.wait("response", caller, 100, () => started.push(caller))
    for (let count = 0; count < 4; count++) waitFor("hog")
    waitFor("polite")
    budget.release("added", "other", LIMIT)
    await setImmediate()
    expect(started.slice(0, 2)).toEqual(["hog", "polite"])
  })

  it("lets responses of 256 KiB be created in one turn of the event loop, and one more for each later turn", async () => {
    const budget = new ByteBudget(10_000_000)
    budget.spend(256 * 1024)
    const started: Array<number> = []
    expect(budget.tryReserve("response", "a", 1)).toBe(false)
    for (const index of [0, 1]) {
      budget.wait("response", "a", 1, () => {
        started.push(index)
        budget.spend(256 * 1024)
      })
    }
    await setImmediate()
    expect(started).toEqual([0])
    await setImmediate()
    expect(started).toEqual([0, 1])
  })
})

describe("a wait", () => {
  afterEach(() => void vi.useRealTimers())

  it.each([
    ["body", 2_000],
    ["response", 30_000]
  ] as const)("of a %s fails after %d ms, and then takes nothing", async (kind, ms) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    const budget = new ByteBudget(LIMIT)
    budget.add("other", LIMIT)
    const outcomes: Array<boolean> = []
    budget.wait(kind, "a", 100, (isReserved) => outcomes.push(isReserved))
    vi.advanceTimersByTime(ms - 1)
    expect(outcomes).toEqual([])
    vi.advanceTimersByTime(1)
    expect(outcomes).toEqual([false])
    budget.release("added", "other", LIMIT)
    await setImmediate()
    expect([outcomes, budget.used, budget.isWaiting]).toEqual([[false], 0, false])
  })
})
