/** Implements `PetArchive` in memory; it can crash before or after any call to `store`, like a killed process. */
import { createHash } from "node:crypto"
import * as Effect from "effect/Effect"
import { identity } from "../domain/NewPet.ts"
import { Pet } from "../domain/Pet.ts"
import { StoreUnavailable } from "../errors/StoreUnavailable.ts"
import { IdTaken, ImportMoved, type PetArchive } from "../ports/PetArchive.ts"
import type { Hash } from "./Import.ts"
import { beginning, type ImportRecord } from "./ImportRecord.ts"

/** The data that survives a crash. */
export interface Disk {
  readonly pets: Map<bigint, Pet>
  readonly records: Map<string, ImportRecord>
}

export const emptyDisk = (): Disk => ({ pets: new Map(), records: new Map() })

/** Whether a call to `store` crashes: not at all, before it takes effect, or after it took effect. */
export type Crash = "no" | "before" | "after"

const crashError = new StoreUnavailable({ retryable: false, cause: new Error("crashed") })

/** Creates an archive on a disk; `crashes` has one item per call to `store`. Further calls do not crash. */
export const make = (disk: Disk, crashes: Iterable<Crash> = []): PetArchive["Service"] => {
  const remainingCrashes = crashes[Symbol.iterator]()
  const lastId = () => [...disk.pets.keys()].reduce((max, id) => (id > max ? id : max), 0n)
  const isOther = (pet: Pet, id: bigint) => {
    const known = disk.pets.get(id)
    return known !== undefined && identity(known) !== identity(pet)
  }
  return {
    lastId: Effect.sync(lastId),
    page: (after, upTo, limit) =>
      Effect.sync(() =>
        [...disk.pets.values()]
          .filter(({ id }) => id > after && id <= upTo)
          .sort((a, b) => (a.id < b.id ? -1 : 1))
          .slice(0, limit)
      ),
    findImport: (source) => Effect.sync(() => disk.records.get(source)),
    startImport: (source, keepIds, again) =>
      Effect.suspend(() => {
        if (!again && disk.records.get(source)?.completedAt !== undefined) {
          return Effect.fail(new ImportMoved({ source }))
        }
        disk.records.set(source, { keepIds, position: beginning, completedAt: undefined })
        return Effect.void
      }),
    // In this model, no other process stores animals.
    reserveIds: () => Effect.void,
    findTaken: (pets) =>
      Effect.sync(() =>
        pets.flatMap(({ id, ...pet }) => (id !== undefined && isOther(new Pet(id, pet), id) ? [id] : []))
      ),
    store: ({ keepIds, pets, step }) =>
      Effect.suspend((): Effect.Effect<number, StoreUnavailable | ImportMoved | IdTaken> => {
        const crash = remainingCrashes.next().value ?? "no"
        if (crash === "before") return Effect.fail(crashError)
        const record = step === undefined ? undefined : disk.records.get(step.source)
        if (step !== undefined && record?.position.bytes !== step.from.bytes) {
          return Effect.fail(new ImportMoved({ source: step.source }))
        }
        let added = 0
        for (const pet of pets) {
          const id = pet.id ?? lastId() + 1n
          if (isOther(new Pet(id, pet), id)) return Effect.fail(new IdTaken({ id }))
          if (!disk.pets.has(id)) added++
          disk.pets.set(id, new Pet(id, pet))
        }
        if (step !== undefined) {
          disk.records.set(step.source, { keepIds, position: step.to, completedAt: step.completedAt })
        }
        return crash === "after" ? Effect.fail(crashError) : Effect.succeed(added)
      })
  }
}

/** Creates a running SHA-256, computed by Node. */
export const makeHash = (): Hash => {
  const hash = createHash("sha256")
  return { update: (bytes) => void hash.update(bytes), digest: () => hash.copy().digest("hex") }
}
