import { Buffer } from "node:buffer"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as PetJson from "../codec/PetJson.ts"
import { newPet } from "../domain/NewPet.arbitrary.ts"
import type { NewPet } from "../domain/NewPet.ts"
import { Pet } from "../domain/Pet.ts"
import { PetArchive } from "../ports/PetArchive.ts"
import * as ArchiveModel from "./ArchiveModel.fixture.ts"
import { chunksOf } from "./Chunks.arbitrary.ts"
import * as Export from "./Export.ts"
import * as Import from "./Import.ts"
import * as ImportRecord from "./ImportRecord.ts"

const NAME = "name:test"

const lineOf = (pet: NewPet, id: bigint): string => PetJson.encode(new Pet(id, pet))

/** Generates animals with ascending ids. */
const pets = fc.array(fc.tuple(newPet, fc.integer({ min: 1, max: 1000 })), { maxLength: 30 }).map((given) => {
  let id = 0n
  return given.map(([pet, step]) => {
    id += BigInt(step)
    return new Pet(id, pet)
  })
})

/** Generates animals, and their lines with blank lines in between, as one array of bytes and in chunks. */
const source = pets.chain((all) =>
  fc
    .tuple(
      fc.array(fc.constantFrom("\n", "\r\n", "\n\n", "\n \t\r\n"), {
        minLength: all.length,
        maxLength: all.length
      }),
      fc.boolean()
    )
    .chain(([lineEndings, isTrimmed]) => {
      const text = all.map((pet, index) => lineOf(pet, pet.id) + lineEndings[index]).join("")
      const bytes = new TextEncoder().encode(isTrimmed ? text.trimEnd() : text)
      return fc.record({ all: fc.constant(all), bytes: fc.constant(bytes), chunks: chunksOf(bytes) })
    })
)

const crashes = fc.array(fc.constantFrom<ArchiveModel.Crash>("no", "before", "after"), { maxLength: 40 })

interface RunOptions {
  readonly keepIds: boolean
  readonly name: string | undefined
  readonly canGrow?: boolean
}

/** Runs the import once, until it ends or crashes. */
const run = (
  disk: ArchiveModel.Disk,
  chunks: ReadonlyArray<Uint8Array>,
  { canGrow = false, keepIds, name }: RunOptions,
  crash: Iterable<ArchiveModel.Crash> = []
) =>
  Effect.gen(function* () {
    const archive = ArchiveModel.make(disk, crash)
    const record = name === undefined ? undefined : yield* archive.findImport(name)
    const { isNew, position } = Result.getOrThrow(
      ImportRecord.startOf(record, { keepIds, again: false, canGrow })
    )
    if (isNew && name !== undefined) yield* archive.startImport(name, keepIds, true)
    return yield* Import.store(
      Stream.fromIterable(chunks),
      { name, from: position, digest: undefined },
      { keepIds, ignoreUnknown: false },
      ArchiveModel.makeHash(),
      () => undefined
    ).pipe(Effect.provideService(PetArchive, archive))
  })

const contents = (animals: Iterable<NewPet>) =>
  [...animals].map(({ categoryId, name, status }) => [name, categoryId, status])

const check = (chunks: ReadonlyArray<Uint8Array>, keepIds = false) =>
  Effect.runSync(
    Import.check(
      Stream.fromIterable(chunks),
      { keepIds, ignoreUnknown: false },
      ArchiveModel.makeHash(),
      () => undefined,
      () => Effect.succeed([])
    )
  )

describe("Import.store", () => {
  it("stores each animal exactly once and in order, even when it crashes several times", () => {
    let restarts = 0
    fc.assert(
      fc.property(source, crashes, fc.boolean(), ({ all, chunks }, crash, keepIds) => {
        const disk = ArchiveModel.emptyDisk()
        const remaining = crash.values()
        for (let attempts = 0; ; attempts++) {
          expect(attempts).toBeLessThanOrEqual(crash.length)
          const record = disk.records.get(NAME)
          // A crash after the last call leaves a complete import.
          if (record?.completedAt !== undefined) break
          const result = Effect.runSync(Effect.result(run(disk, chunks, { keepIds, name: NAME }, remaining)))
          if (Result.isSuccess(result)) break
          restarts++
        }
        expect(contents(disk.pets.values())).toEqual(contents(all))
        if (keepIds) expect([...disk.pets.keys()]).toEqual(all.map(({ id }) => id))
        expect(disk.records.get(NAME)?.completedAt).toBeDefined()
        expect(disk.records.get(NAME)?.position.animals).toBe(all.length)
      }),
      { numRuns: 300 }
    )
    expect(restarts).toBeGreaterThan(100)
  })

  it("records the SHA-256 of the bytes before each position", () => {
    fc.assert(
      fc.property(source, crashes, ({ bytes, chunks }, crash) => {
        const disk = ArchiveModel.emptyDisk()
        Effect.runSync(Effect.result(run(disk, chunks, { keepIds: false, name: NAME }, crash)))
        const position = disk.records.get(NAME)?.position ?? ImportRecord.beginning
        const hash = ArchiveModel.makeHash()
        hash.update(bytes.subarray(0, position.bytes))
        expect(position.prefix).toBe(hash.digest())
      })
    )
  })

  it("stores only the animals before the first invalid line, and resumes there after the line is fixed", () => {
    fc.assert(
      fc.property(
        source.filter(({ all }) => all.length > 0),
        fc.nat(),
        fc.boolean(),
        ({ bytes, all }, choice, isLargeChunk) => {
          const lines = new TextDecoder().decode(bytes).split("\n")
          const valid = lines.flatMap((line, index) => (line.trim() === "" ? [] : [index]))
          const brokenLine = valid[choice % valid.length] ?? 0
          const damaged = lines.with(brokenLine, '{"name":""}').join("\n")
          const chunkSize = isLargeChunk ? 1_000_000 : 50
          const inChunks = (text: string) => {
            const encoded = Buffer.from(text)
            return Array.from({ length: Math.ceil(encoded.length / chunkSize) }, (_, index) =>
              encoded.subarray(index * chunkSize, (index + 1) * chunkSize)
            )
          }
          const disk = ArchiveModel.emptyDisk()
          const stored = Effect.runSync(run(disk, inChunks(damaged), { keepIds: false, name: NAME }))
          expect(stored.invalidLines[0]?.line).toBe(brokenLine + 1)
          expect(contents(disk.pets.values())).toEqual(contents(all.slice(0, valid.indexOf(brokenLine))))
          const resumed = Effect.runSync(
            run(disk, inChunks(lines.join("\n")), { keepIds: false, name: NAME })
          )
          expect(resumed.invalidLines).toEqual([])
          expect(contents(disk.pets.values())).toEqual(contents(all))
        }
      )
    )
  })

  it("imports only the appended animals of a stream that was imported completely before", () => {
    fc.assert(
      fc.property(source, source, (first, second) => {
        const disk = ArchiveModel.emptyDisk()
        const given = { keepIds: false, name: NAME, canGrow: true }
        const whole = [...first.chunks, Uint8Array.of(0x0a)]
        Effect.runSync(run(disk, whole, given))
        const grown = Effect.runSync(run(disk, [...whole, ...second.chunks], given))
        expect(grown.inserted).toBe(second.all.length)
        expect(contents(disk.pets.values())).toEqual(contents([...first.all, ...second.all]))
      })
    )
  })

  it("numbers the lines of a stream that grew after a last line without a line feed", () => {
    const disk = ArchiveModel.emptyDisk()
    const given = { keepIds: false, name: NAME, canGrow: true }
    const line = '{"name":"Rex","categoryId":1}'
    Effect.runSync(run(disk, [Buffer.from(`${line}\n${line}`)], given))
    const grown = Effect.runSync(run(disk, [Buffer.from(`${line}\n${line}\n${line}\n[]\n`)], given))
    expect(grown).toMatchObject({ inserted: 1, invalidLines: [{ line: 4 }] })
  })

  it("rejects a stream that does not begin with the imported bytes", () => {
    const disk = ArchiveModel.emptyDisk()
    const given = { keepIds: false, name: NAME, canGrow: true }
    const line = Buffer.from('{"name":"Rex","categoryId":1}\n')
    Effect.runSync(run(disk, [line], given))
    for (const changed of [
      Buffer.from('{"name":"Max","categoryId":1}\n'),
      line.subarray(0, 10),
      Buffer.alloc(0)
    ]) {
      const failure = Effect.runSync(Effect.flip(run(disk, [changed], given)))
      expect(failure.message).toBe("its first 30 bytes differ from those that were imported before")
    }
    expect(disk.pets.size).toBe(1)
  })

  it("fails when another process imports the same source at the same time, and stores nothing twice", () => {
    const disk = ArchiveModel.emptyDisk()
    const lines = Buffer.from('{"name":"Rex","categoryId":1}\n{"name":"Max","categoryId":1}\n')
    disk.records.set(NAME, { keepIds: false, position: ImportRecord.beginning, completedAt: undefined })
    const archive = ArchiveModel.make(disk)
    const failure = Effect.runSync(
      Import.store(
        Stream.fromEffect(Effect.as(Effect.orDie(run(disk, [lines], { keepIds: false, name: NAME })), lines)),
        { name: NAME, from: ImportRecord.beginning, digest: undefined },
        { keepIds: false, ignoreUnknown: false },
        ArchiveModel.makeHash(),
        () => undefined
      ).pipe(Effect.provideService(PetArchive, archive), Effect.flip)
    )
    expect(failure._tag).toBe("ImportMoved")
    expect(disk.pets.size).toBe(2)
  })

  it("does not complete the import of a file that changed after its check", () => {
    const disk = ArchiveModel.emptyDisk()
    disk.records.set(NAME, { keepIds: false, position: ImportRecord.beginning, completedAt: undefined })
    const failure = Effect.runSync(
      Import.store(
        Stream.make(Buffer.from('{"name":"Rex","categoryId":1}\n')),
        { name: NAME, from: ImportRecord.beginning, digest: "other" },
        { keepIds: false, ignoreUnknown: false },
        ArchiveModel.makeHash(),
        () => undefined
      ).pipe(Effect.provideService(PetArchive, ArchiveModel.make(disk)), Effect.flip)
    )
    expect(failure.message).toBe("it changed during the import")
    expect(disk.records.get(NAME)?.completedAt).toBeUndefined()
  })
})

describe("Export.chunks", () => {
  it("returns lines from which an import with --keep-ids creates the same catalogue", () => {
    fc.assert(
      fc.property(pets, (all) => {
        const disk = ArchiveModel.emptyDisk()
        for (const pet of all) disk.pets.set(pet.id, pet)
        const exported = Effect.runSync(
          Stream.runCollect(Export.chunks).pipe(Effect.provideService(PetArchive, ArchiveModel.make(disk)))
        )
        const target = ArchiveModel.emptyDisk()
        const chunks = exported.map(({ text }) => Buffer.from(text))
        Effect.runSync(run(target, chunks, { keepIds: true, name: undefined }))
        expect([...target.pets.values()]).toEqual(all)
      })
    )
  })

  it("returns the animals of all pages", () => {
    const disk = ArchiveModel.emptyDisk()
    for (let id = 1n; id <= 2_500n; id++) {
      disk.pets.set(id, new Pet(id, { name: "Rex", categoryId: id, status: "sold" }))
    }
    const exported = Effect.runSync(
      Stream.runCollect(Export.chunks).pipe(Effect.provideService(PetArchive, ArchiveModel.make(disk)))
    )
    expect(exported.map(({ animals }) => animals)).toEqual([1_000, 1_000, 500])
  })
})

describe("Import.check", () => {
  it("accepts valid sources, with the same digest for any division into chunks", () => {
    fc.assert(
      fc.property(source, fc.boolean(), ({ all, bytes, chunks }, keepIds) => {
        const checked = check(chunks, keepIds)
        expect(checked).toMatchObject({ animals: all.length, invalidLines: [] })
        expect(checked.digest).toBe(check([bytes]).digest)
      })
    )
  })

  it("reports the line and the field of each error, and stops after twenty invalid lines", () => {
    const lines = [
      '{"name":"Rex","categoryId":1}',
      "",
      '{"name":"Rex"}',
      "[",
      '{"name":"Rex","categoryId":1,"x":1}'
    ]
    expect(check([Buffer.from(lines.join("\r\n"))]).invalidLines).toEqual([
      { line: 3, reason: "categoryId: is required" },
      { line: 4, reason: "not valid JSON: unexpected end of input at position 1" },
      { line: 5, reason: '"x": is not a known field' }
    ])
    const many = check(Array.from({ length: 50 }, () => Buffer.from("[]\n")))
    expect(many.invalidLines).toHaveLength(20)
  })

  it("requires ascending ids only if ids are kept", () => {
    const lines = [3, 4, 4, 2, 5].map((id) => `{"id":${id},"name":"Rex","categoryId":1}\n`)
    expect(check([Buffer.from(lines.join(""))], true).invalidLines).toEqual([
      { line: 3, reason: "id: must be larger than 4, the id before it" },
      { line: 4, reason: "id: must be larger than 4, the id before it" }
    ])
    expect(check([Buffer.from(lines.join(""))]).invalidLines).toEqual([])
  })
})
