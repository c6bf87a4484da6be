import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { describe, expect, it } from "vitest"
import { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"
import { PetRepository } from "../../core/ports/PetRepository.ts"
import * as Trial from "../evaluation/Trial.ts"
import * as ArrayStores from "../selftest/ArrayStores.ts"
import * as PortSubject from "./PortSubject.ts"

const run = Effect.runPromise

const draft = { name: "Rex", categoryId: 7n, status: undefined }

const open = (petRepository: PortSubject.Store<PetRepository>, trial = Trial.make("t")) => {
  const { interfaces } = PortSubject.make({ name: "toy", petRepository })
  return Effect.suspend(
    () => interfaces.catalogue?.(trial) ?? Effect.die(new Error("the subject has no catalogue"))
  )
}

const withFailingInsert = (cause: Effect.Effect<never, StoreUnavailable>) =>
  Layer.sync(PetRepository, () => ({ ...ArrayStores.petRepository(), insert: () => cause }))

describe("a port subject", () => {
  it("has only the interfaces of the given ports", () => {
    const interfacesOf = (options: Omit<PortSubject.PortSubjectOptions, "name">) =>
      Object.keys(PortSubject.make({ name: "toy", ...options }).interfaces).toSorted()
    expect(interfacesOf({})).toEqual([])
    expect(interfacesOf({ petRepository: ArrayStores.layer })).toEqual(["catalogue", "pets"])
    expect(interfacesOf({ rateLimitStore: ArrayStores.layer })).toEqual(["limits", "meter", "victim"])
    expect(interfacesOf({ apiKeyStore: ArrayStores.layer })).toEqual(["keys"])
    expect(interfacesOf({ outage: ArrayStores.outOfReach({}) })).toEqual(["outage"])
  })

  it("is built again for every evaluation, even from the same layer, and is closed afterwards", async () => {
    let built = 0
    let closed = 0
    const countingLayer = Layer.effect(
      PetRepository,
      Effect.acquireRelease(
        Effect.sync(() => {
          built++
          return ArrayStores.petRepository()
        }),
        () => Effect.sync(() => void closed++)
      )
    )
    for (let round = 1; round <= 3; round++) {
      await run(
        Effect.scoped(
          Effect.gen(function* () {
            const catalogue = yield* open(countingLayer)
            expect(yield* catalogue.list({ limit: 100, status: undefined })).toEqual([])
            yield* catalogue.create(draft)
            expect(yield* catalogue.list({ limit: 100, status: undefined })).toHaveLength(1)
          })
        )
      )
      expect({ built, closed }).toEqual({ built: round, closed: round })
    }
  })

  it("records calls as steps in terms of the domain", async () => {
    const trial = Trial.make("t")
    await run(
      Effect.scoped(
        Effect.gen(function* () {
          const catalogue = yield* open(ArrayStores.layer, trial)
          const { id } = yield* catalogue.create(draft)
          yield* catalogue.get(id)
          yield* catalogue.get(99n)
          yield* catalogue.list({ limit: undefined, status: "sold" })
        })
      )
    )
    expect(trial.steps).toEqual([
      { did: 'insert {"name":"Rex","categoryId":7}', got: '{id 1, name "Rex", categoryId 7, available}' },
      { did: "find 1", got: '{id 1, name "Rex", categoryId 7, available}' },
      { did: "find 99", got: "none" },
      { did: "page of 20 sold", got: "none" }
    ])
  })

  it.each([
    [
      "fails",
      Effect.fail(new StoreUnavailable({ retryable: true, cause: new Error("disk full") })),
      "StoreUnavailable: Error: disk full"
    ],
    ["ends with a defect", Effect.die(new Error("oops")), "a defect: Error: oops"]
  ] as const)("causes a violation if a call %s, because the backend works", async (_what, cause, actual) => {
    const trial = Trial.make("t")
    const failure = await run(
      Effect.flip(
        Effect.scoped(
          Effect.flatMap(open(withFailingInsert(cause), trial), (catalogue) => catalogue.create(draft))
        )
      )
    )
    expect(failure).toMatchObject({ _tag: "Violation", actual })
    expect(trial.steps).toMatchObject([{ got: actual }])
  })

  it("causes a violation if the layer cannot be opened", async () => {
    for (const cause of [Effect.fail("Error: no such file"), Effect.die(new Error("no such file"))]) {
      const layer = Layer.effect(PetRepository, cause)
      expect(await run(Effect.flip(Effect.scoped(open(layer))))).toMatchObject({
        _tag: "Violation",
        expected: "the layer to open an empty store",
        actual: "Error: no such file"
      })
    }
  })
})
