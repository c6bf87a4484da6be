import * as it from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { describe, expect } from "vitest"
import { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"
import { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import { PetRepository } from "../../core/ports/PetRepository.ts"
import { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import * as ArrayStores from "../selftest/ArrayStores.ts"
import * as Subjects from "../selftest/Subjects.ts"
import * as PortRun from "./PortRun.ts"
import type { PortTarget } from "./PortTarget.ts"

const correct: PortTarget = { name: "arrays", ...Subjects.stores({}), outage: ArrayStores.outOfReach({}) }

/** A repository that returns one animal more than the limit of a page. */
const faulty: PortTarget = {
  name: "faulty",
  petRepository: Layer.sync(PetRepository, () => {
    const real = ArrayStores.petRepository()
    return { ...real, page: (query) => real.page({ ...query, limit: query.limit + 1 }) }
  })
}

const run = (target: PortTarget, options: Partial<Parameters<typeof PortRun.run>[1]> = {}) =>
  PortRun.run(target, { seed: 1, effort: 0.1, ...options })

describe("a run on storage ports", { timeout: 20_000 }, () => {
  it.live("finds nothing in correct stores, and decides every clause that they promise", () =>
    Effect.gen(function* () {
      const { decided, findings, lacking, undecided } = yield* run(correct, { effort: 1, seed: 2 })
      expect({ findings, undecided }).toEqual({ findings: [], undecided: new Map() })
      const without = [...PortRun.clausesOf(correct)].filter(
        (slug) => !new Set<string>(decided.keys()).has(slug)
      )
      expect(without.toSorted()).toEqual([...lacking.keys()].toSorted())
      expect([...lacking]).toEqual([])
    })
  )

  it.live("dies if a layer does, instead of counting the case as a pass", () =>
    Effect.gen(function* () {
      let builds = 0
      const dying = Layer.effect(
        PetRepository,
        Effect.gen(function* () {
          const isLate = ++builds > 20
          yield* Effect.addFinalizer(() => (isLate ? Effect.die(new Error("cannot close")) : Effect.void))
          return ArrayStores.petRepository()
        })
      )
      const exit = yield* Effect.exit(run({ name: "dying", petRepository: dying }))
      expect(String(exit)).toContain("cannot close")
    })
  )

  it.live("finds nothing in stores whose interrupted calls still take effect", () =>
    Effect.gen(function* () {
      const later = <A, E>(call: Effect.Effect<A, E>): Effect.Effect<A, E> =>
        Effect.flatMap(Effect.forkDetach(Effect.andThen(Effect.yieldNow, call)), Fiber.join)
      const stores = Subjects.stores({
        pets: (real) => ({
          insert: (pet) => later(real.insert(pet)),
          find: (id) => later(real.find(id)),
          page: (query) => later(real.page(query))
        }),
        limits: (real) => ({ modify: (key, step) => later(real.modify(key, step)) }),
        keys: (real) => ({
          ...real,
          insert: (key, event) => later(real.insert(key, event)),
          update: (id, change) => later(real.update(id, change))
        })
      })
      const { decided, findings } = yield* run({ name: "later", ...stores }, { effort: 1 })
      expect(findings).toEqual([])
      expect(decided.get("limits-store.interruption")).toBeGreaterThan(0)
    })
  )

  it.live(
    "finds nothing in stores whose calls are never cut short, and decides nothing about methods that they lack",
    () =>
      Effect.gen(function* () {
        // If a function throws after the interruption, the call ends with both.
        const whole = <A, E>(call: Effect.Effect<A, E>): Effect.Effect<A, E> =>
          Effect.uninterruptible(Effect.andThen(Effect.yieldNow, call))
        const stores = Subjects.stores({
          pets: (real) => ({
            insert: (pet) => whole(real.insert(pet)),
            find: (id) => whole(real.find(id)),
            page: (query) => whole(real.page(query))
          }),
          limits: (real) => ({ modify: (key, step) => whole(real.modify(key, step)) }),
          keys: (real) => ({
            findByHash: (hash) => whole(real.findByHash(hash)),
            insert: (key) => whole(real.insert(key)),
            insertFirst: (key) => whole(real.insertFirst(key)),
            update: (id, change) => whole(real.update(id, change)),
            list: whole(real.list)
          })
        })
        const { decided, findings, lacking } = yield* run(
          { name: "whole", ...stores },
          { effort: 1, seed: 2 }
        )
        expect(findings).toEqual([])
        expect([...lacking.keys()].filter((slug) => decided.has(slug))).toEqual([])
        expect([...lacking]).toContainEqual(["pets.once", "the store has no `insertOnce`"])
      })
  )

  it.live("returns a smallest history of a violation", () =>
    Effect.gen(function* () {
      const { findings } = yield* run(faulty)
      expect(findings.map(({ clause }) => clause)).toEqual(["pets.page.limit"])
      const [finding] = findings
      expect(finding).toMatchObject({ expected: "at most 1 animals", shapes: ["pets page"] })
      expect(finding?.steps.map(({ did }) => did.split(" ")[0])).toEqual(["insert", "insert", "page"])
    })
  )

  it.live("reports a layer that cannot be built", () =>
    Effect.gen(function* () {
      const { findings } = yield* run({
        name: "closed",
        petRepository: Layer.effect(PetRepository, Effect.die(new Error("no such file")))
      })
      expect(findings).toMatchObject([{ actual: "Error: no such file", steps: [] }])
    })
  )

  it.live("makes only the calls that can decide the wanted clauses", () =>
    Effect.gen(function* () {
      const { decided } = yield* run(correct, { isWanted: (clause) => clause === "keys-store.interruption" })
      expect([...decided.keys()].filter((slug) => !slug.startsWith("keys-store."))).toEqual([])
      expect(decided.get("keys-store.interruption")).toBeGreaterThan(0)
    })
  )
})

describe("a run on a store with a call that never ends", () => {
  it.effect("ends after the first case that waits for it", () =>
    Effect.gen(function* () {
      const endless = Layer.sync(PetRepository, () => ({
        ...ArrayStores.petRepository(),
        find: () => Effect.never
      }))
      const running = yield* Effect.forkChild(run({ name: "endless", petRepository: endless }))
      // The calls before it need no time, but turns.
      for (let turn = 0; turn < 5_000; turn++) yield* Effect.yieldNow
      for (let step = 0; step < 5; step++) yield* TestClock.adjust(60_000)
      const { findings } = yield* Fiber.join(running)
      expect(findings).toMatchObject([{ clause: "pets.find.none", actual: "a call without an end" }])
    })
  )
})

/** Runs the calls during an outage, in which each call of each port runs this effect, for some time of the test clock. */
const duringOutage = (call: Effect.Effect<never, StoreUnavailable>, ms: number) =>
  Effect.gen(function* () {
    const outage = Layer.mergeAll(
      Layer.succeed(PetRepository, { insert: () => call, find: () => call, page: () => call }),
      Layer.succeed(RateLimitStore, { modify: () => call, consume: () => call, rehearse: call }),
      Layer.succeed(ApiKeyStore, {
        findByHash: () => call,
        insert: () => call,
        insertFirst: () => call,
        update: () => call,
        list: call
      })
    )
    const running = yield* Effect.forkChild(run({ name: "outage", outage }, { shrinkingMs: 0 }))
    for (let step = 0; step < 40; step++) yield* TestClock.adjust(ms)
    return yield* Fiber.join(running)
  })

describe("a run during an outage", () => {
  const unavailable = Effect.fail(new StoreUnavailable({ retryable: true, cause: new Error("refused") }))

  it.effect("accepts calls that fail with StoreUnavailable after 9 s", () =>
    Effect.gen(function* () {
      const { decided, findings } = yield* duringOutage(
        Effect.andThen(Effect.sleep(9_000), unavailable),
        9_000
      )
      expect(findings).toEqual([])
      expect([...decided.values()].reduce((sum, times) => sum + times, 0)).toBe(12)
    })
  )

  it.effect.each([
    ["do not end within 10 s", Effect.never, "a defect: Error: no result within 10 s"],
    ["are interrupted", Effect.interrupt, "an interruption"],
    ["die", Effect.die(new Error("oops")), "a defect: Error: oops"]
  ] as const)("rejects calls that %s", ([, call, actual]) =>
    Effect.gen(function* () {
      const { findings } = yield* duringOutage(call, 10_000)
      expect(findings).toMatchObject([{ actual }, { actual }, { actual }])
    })
  )
})
