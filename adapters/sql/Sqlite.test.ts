import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { describe, expect, it } from "@effect/vitest"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { PetRepository } from "../../core/ports/PetRepository.ts"
import * as Sqlite from "./Sqlite.ts"

const directory = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "animal-store-"))),
  (created) => Effect.sync(() => fs.rmSync(created, { recursive: true }))
)

/** Changes the working directory until the scope closes. */
const changeDirectory = (target: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const before = process.cwd()
      process.chdir(target)
      return before
    }),
    (before) => Effect.sync(() => process.chdir(before))
  )

const stores = (options: Sqlite.SqliteOptions) =>
  Layer.provide(Sqlite.layer(options), SecureRandom.layerWebCrypto)

const rex = { name: "Rex", categoryId: 7n, status: "sold" } as const

describe("Sqlite.layer", () => {
  // SQLite would interpret some of these as URIs of in-memory databases or databases without locks.
  it.effect.each([
    "file:x.db?mode=memory",
    "file::memory:?cache=shared",
    "file:x.db?nolock=1",
    ":memory:",
    "a?b#c%20d.db"
  ])("stores its data in a file with exactly the name %s", (filename) =>
    Effect.gen(function* () {
      yield* changeDirectory(yield* directory)
      const insert = PetRepository.use(({ insert }) => insert(rex))
      yield* Effect.provide(insert, stores({ filename }))
      expect(fs.readdirSync(".")).toEqual([filename])
      expect(fs.statSync(filename).mode & 0o777).toBe(0o600)
      const found = yield* Effect.provide(
        PetRepository.use(({ find }) => find(1n)),
        stores({ filename })
      )
      expect(Option.getOrThrow(found)).toMatchObject(rex)
    })
  )

  it.effect.skipIf(!fs.existsSync("/proc/locks"))(
    "keeps the file locks of a store when another store on the same file in this process closes (needs /proc/locks)",
    () =>
      Effect.gen(function* () {
        const filename = path.join(yield* directory, "x.db")
        const open = Layer.build(stores({ filename }))
        const { insert } = yield* Effect.provide(PetRepository, yield* open)
        yield* insert(rex)
        const locks = () => {
          const { ino } = fs.statSync(filename)
          const held = fs.readFileSync("/proc/locks", "utf8").split("\n")
          return held.filter((line) => line.includes(` ${process.pid} `) && line.includes(`:${ino} `)).length
        }
        const before = locks()
        expect(before).toBeGreaterThan(0)
        yield* Effect.scoped(open)
        expect(locks()).toBe(before)
      })
  )

  it.effect("still uses the same file after the process changes its working directory", () =>
    Effect.gen(function* () {
      yield* changeDirectory(yield* directory)
      const { insert } = yield* PetRepository.pipe(
        Effect.provide(yield* Layer.build(stores({ filename: "./x.db" })))
      )
      yield* changeDirectory(os.tmpdir())
      expect((yield* insert(rex)).id).toBe(1n)
    })
  )

  it.effect.each([
    { keyCacheMs: 3_600_000 },
    { keyCacheMs: 0.5 },
    { keyCacheMs: -1 },
    { timeoutMs: 0 },
    { timeoutMs: Number.NaN },
    { timeoutMs: Number.POSITIVE_INFINITY }
  ])("rejects the invalid options %o", (options) =>
    Effect.gen(function* () {
      const filename = path.join(yield* directory, "x.db")
      const failure = yield* Effect.flip(Effect.provide(Effect.void, stores({ filename, ...options })))
      expect(failure.message).toMatch(
        /^database: (keyCacheMs|timeoutMs) must be a whole number from \d+ to \d+$/
      )
    })
  )
})
