/** Measures calls per second to the ports of database stores, for one client and for many clients. */
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Database from "../../adapters/embed/Database.ts"
import * as Postgres from "../../adapters/sql/Postgres.ts"
import type * as Sql from "../../adapters/sql/Sql.ts"
import * as Sqlite from "../../adapters/sql/Sqlite.ts"
import * as OptionTable from "../../core/options/OptionTable.ts"
import { PetRepository } from "../../core/ports/PetRepository.ts"
import { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import * as Databases from "../Databases.ts"
import { statuses } from "../http/Catalogue.ts"
import * as RedisServer from "../RedisServer.ts"
import { formatCount } from "../Thousands.ts"
import * as CallerKeys from "./CallerKeys.ts"
import type { Figure } from "./Figure.ts"
import * as Limiters from "./Limiters.ts"
import { figure, REPEATS } from "./Repeats.ts"
import type { Section } from "./Section.ts"

/** The number of animals that are stored before the measurement, and the number of callers. */
const ROWS = 10_000

const CLIENTS = [1, 64]
const SEEDING_CLIENTS = 512

const WARM_UP_MS = 100
const REPEAT_MS = 200

interface Operation<E> {
  readonly name: string
  readonly call: (count: number) => Effect.Effect<unknown, E>
}

const scatteredIndex = (count: number): number => CallerKeys.scattered(count, ROWS)

const consumeOperation = Effect.gen(function* () {
  const limits = yield* RateLimitStore
  return {
    name: `consume, ${formatCount(ROWS, "caller")}`,
    call: (count: number) =>
      Limiters.consume(limits, CallerKeys.keyOf(scatteredIndex(count)), Date.now(), Limiters.unlimited)
  }
})

const operations = Effect.gen(function* () {
  const pets = yield* PetRepository
  const consume = yield* consumeOperation
  const insert = (count: number) =>
    pets.insert({
      name: `Rex the ${count}th of his name`,
      categoryId: BigInt(count % 17),
      status: statuses[count % 3] ?? "sold"
    })
  yield* Effect.forEach(Array.from({ length: ROWS }).keys(), insert, {
    concurrency: SEEDING_CLIENTS,
    discard: true
  })
  return [
    { name: "find", call: (count: number) => pets.find(BigInt(scatteredIndex(count) + 1)) },
    {
      name: "page of 21",
      call: (count: number) =>
        pets.page({ limit: 21, status: undefined, after: BigInt(scatteredIndex(count)) })
    },
    { name: "insert", call: insert },
    consume
  ] satisfies ReadonlyArray<Operation<unknown>>
})

/** Measures the calls per second of clients that each make their calls in sequence. */
const measureRate = <E>(clients: number, ms: number, call: Operation<E>["call"]): Effect.Effect<number, E> =>
  Effect.gen(function* () {
    let started = 0
    let done = 0
    const began = performance.now()
    const end = began + ms
    const client = Effect.gen(function* () {
      while (performance.now() < end) {
        yield* call(started++)
        done++
      }
    })
    yield* Effect.all(
      Array.from({ length: clients }, () => client),
      { concurrency: "unbounded", discard: true }
    )
    return (done / (performance.now() - began)) * 1000
  })

const measure = (
  group: string,
  measured: ReadonlyArray<Operation<unknown>>,
  progress: (text: string) => void
) =>
  Effect.gen(function* () {
    const figures: Array<Figure> = []
    for (const { call, name } of measured) {
      for (const clients of CLIENTS) {
        const title = `${name}, ${formatCount(clients, "client")}`
        progress(`${group}: ${title}`)
        yield* measureRate<unknown>(clients, WARM_UP_MS, call)
        const rates: Array<number> = []
        for (let count = 0; count < REPEATS; count++)
          rates.push(yield* measureRate<unknown>(clients, REPEAT_MS, call))
        figures.push(figure(group, title, "per second", rates))
      }
    }
    return figures
  })

const measureAt = <E>(
  group: string,
  stores: Layer.Layer<Sql.Stores, E, SecureRandom.SecureRandom>,
  progress: (text: string) => void
): Promise<ReadonlyArray<Figure>> =>
  Effect.flatMap(operations, (measured) => measure(group, measured, progress)).pipe(
    Effect.provide(Layer.provide(stores, SecureRandom.layerWebCrypto)),
    Effect.runPromise
  )

const sqlite: Section = {
  name: "SQLite",
  run: async (progress) => {
    const { filename, remove } = Databases.sqliteFile()
    return measureAt("SQLite", Sqlite.layer({ filename }), progress).finally(remove)
  }
}

const postgres: Section = {
  name: "PostgreSQL",
  run: async (progress) => {
    const schema = await Databases.postgresSchema(Databases.postgresServer)
    if ("reason" in schema) {
      progress(`PostgreSQL: skipped, ${schema.reason}`)
      return []
    }
    const stores = Postgres.layer({ url: Redacted.make(schema.address) })
    return measureAt("PostgreSQL", stores, progress).finally(schema.remove)
  }
}

/** Measures limits only, because Redis stores nothing else. */
const redis: Section = {
  name: "Redis",
  run: async (progress) => {
    const server = await RedisServer.start()
    if ("reason" in server) {
      progress(`Redis: skipped, ${server.reason}`)
      return []
    }
    const limits = Result.getOrThrow(
      Database.limits(
        server.address,
        OptionTable.defaults<Database.DatabaseOptions>(Database.table),
        "database"
      )
    )
    return Effect.flatMap(consumeOperation, (consume) => measure("Redis", [consume], progress))
      .pipe(Effect.provide(Layer.provide(limits, SecureRandom.layerWebCrypto)), Effect.runPromise)
      .finally(server.stop)
  }
}

export const sections: ReadonlyArray<Section> = [sqlite, postgres, redis]
