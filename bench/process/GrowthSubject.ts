/** Fills one store in its own process, measures it, sends the figures, and exits. */
import { Buffer } from "node:buffer"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { do_not_optimize } from "mitata"
import * as Memory from "../../adapters/memory/Memory.ts"
import * as PetJson from "../../core/codec/PetJson.ts"
import type { NewPet } from "../../core/domain/NewPet.ts"
import type { PageQuery } from "../../core/domain/Page.ts"
import * as BanPolicy from "../../core/limits/BanPolicy.ts"
import { PetRepository } from "../../core/ports/PetRepository.ts"
import { statuses, UNREACHABLE_LIMIT } from "../http/Catalogue.ts"
import { formatCount, thousands } from "../Thousands.ts"
import * as CallerKeys from "./CallerKeys.ts"
import * as FiberLoop from "./FiberLoop.ts"
import type { Unit } from "./Figure.ts"
import * as Heap from "./Heap.ts"
import * as Limiters from "./Limiters.ts"

/** Measured values, by the names of their figures. */
export interface Measured {
  readonly [name: string]: { readonly value: number; readonly unit: Unit }
}

const ns = (value: number) => ({ value, unit: "ns" }) as const
const bytes = (value: number) => ({ value, unit: "bytes" }) as const

/**
 * Minimum number of stored items, in several stores if necessary; the memory of fewer items would be within the noise
 * of the heap.
 */
const MIN_ITEMS = 20_000

const BATCH = 1_000
const WARM_UP_MS = 150
const TIMED_MS = 250

/** Returns the nanoseconds per call, garbage collection included; each batch makes `BATCH` calls. */
const time = (batch: (index: number) => void): number => {
  let count = 0
  const repeat = (ms: number): number => {
    const first = count
    const began = performance.now()
    while (performance.now() < began + ms) batch(count++)
    return ((performance.now() - began) * 1e6) / ((count - first) * BATCH)
  }
  repeat(WARM_UP_MS)
  Heap.collect()
  return repeat(TIMED_MS)
}

const DAY_MS = 86_400_000

/** Sends one request from each of `callers` callers. */
const admitAll = async (limiter: Limiters.Limiter, callers: number): Promise<void> => {
  for (let start = 0; start < callers; start += BATCH) {
    await limiter.consume(CallerKeys.keys(start, Math.min(BATCH, callers - start)))
  }
}

/** Number of different callers that are timed: far too many for the caches of a processor. */
const PROBES = 131_072

/**
 * Times calls with many keys. This is a separate function, so that the keys are garbage when memory is measured again.
 */
const timeOfBatches = (callers: number, consume: (batch: ReadonlyArray<string>) => unknown): number => {
  const batches = Array.from({ length: Math.floor(PROBES / BATCH) }, (_, index) =>
    CallerKeys.scatteredKeys(index * BATCH, BATCH, callers)
  )
  return time((index) => consume(batches[index % batches.length] ?? []))
}

/** Times reads of a `Map` with the same number of callers: the minimum for any store in memory. */
const timeOfMap = (callers: number): number => {
  const states = new Map(CallerKeys.keys(0, callers).map((key, index) => [key, { index }]))
  return timeOfBatches(callers, (batch) => {
    for (const key of batch) do_not_optimize(states.get(key)?.index)
  })
}

const ourLimits = async (callers: number): Promise<Measured> => {
  let now = Date.UTC(2027, 0, 1, 12)
  const clock: Clock.Clock = {
    ...Clock.Clock.defaultValue(),
    currentTimeMillisUnsafe: () => now,
    currentTimeMillis: Effect.sync(() => now),
    // Otherwise each change of `now` would count as a step of the clock, and the store would shift its states.
    monotonicTimeNanosUnsafe: () => BigInt(now) * 1_000_000n
  }
  // A ban changes the hidden class of the stored states, so the warm-up bans a caller, as production would.
  const strict = { plan: { perMinute: 1, perDay: UNREACHABLE_LIMIT }, ban: BanPolicy.standard }
  const warmUp = Limiters.animalStore(clock, strict)
  await admitAll(warmUp, MIN_ITEMS)
  for (let index = 0; index < 100; index++) {
    now += 1_000
    warmUp.consume(["key:offender"])
  }

  const count = Math.ceil(MIN_ITEMS / callers)
  const totalCallers = count * callers
  const before = Heap.usedBytes()
  const limiters = Array.from({ length: count }, () => Limiters.animalStore(clock))
  for (const limiter of limiters) await admitAll(limiter, callers)
  const liveBytes = (Heap.usedBytes() - before) / totalCallers

  const size = thousands(callers)
  const [first] = limiters
  const nanos = timeOfBatches(callers, (batch) => {
    now++
    first?.consume(batch)
  })
  const measured = {
    [`consume, ${formatCount(callers, "caller")}`]: ns(nanos),
    [`Map.get, ${formatCount(callers, "caller")}`]: ns(timeOfMap(callers)),
    [`a live caller of ${size}${callers === 1 ? ", with its store" : ""}`]: bytes(liveBytes)
  }
  if (callers === 1) return measured

  // Stores delete expired states while they serve requests, so one caller sends as many requests as there were callers.
  now += 3 * DAY_MS
  const later = Array.from({ length: BATCH }, () => "key:later")
  for (const limiter of limiters) {
    for (let index = 0; index < callers; index += BATCH) limiter.consume(later)
  }
  const idleBytes = (Heap.usedBytes() - before) / totalCallers
  do_not_optimize(limiters)
  return { ...measured, [`an idle caller of ${size}, after their windows`]: bytes(idleBytes) }
}

const otherLimits = async (name: Limiters.OtherName, callers: number): Promise<Measured> => {
  await admitAll(Limiters.others[name](), MIN_ITEMS)
  const before = Heap.usedBytes()
  const limiter = Limiters.others[name]()
  await admitAll(limiter, callers)
  const liveBytes = (Heap.usedBytes() - before) / callers
  do_not_optimize(limiter)
  return { [`a live caller of ${thousands(callers)}, ${name}`]: bytes(liveBytes) }
}

/** Creates an animal as a request would: the name is a separate flat string. */
const newPet = (index: number): NewPet => ({
  name: Buffer.from(`Rex the ${index + 1}th of his name`).toString("latin1"),
  categoryId: BigInt(1_000 + (index % 17)),
  status: statuses[index % 3] ?? "sold"
})

const repository = (): PetRepository["Service"] => Effect.runSync(Effect.provide(PetRepository, Memory.layer))

const insertAll = (pets: PetRepository["Service"], count: number): void =>
  Effect.runSync(FiberLoop.times(count, (index) => pets.insert(newPet(index))))

/** Encodes all animals page by page, as the service does. */
const listAll = (pets: PetRepository["Service"], count: number): void => {
  const limit = 100
  for (let after = 0; after < count; after += limit) {
    const page = Effect.runSync(pets.page({ limit, status: undefined, after: BigInt(after) }))
    do_not_optimize(PetJson.encodeAll(page))
  }
}

const animals = (count: number): Measured => {
  const warmUp = repository()
  insertAll(warmUp, MIN_ITEMS)
  listAll(warmUp, MIN_ITEMS)

  const stores = Math.ceil(MIN_ITEMS / count)
  const totalAnimals = stores * count
  const before = Heap.usedBytes()
  const repositories = Array.from({ length: stores }, repository)
  for (const pets of repositories) insertAll(pets, count)
  const unreadBytes = (Heap.usedBytes() - before) / totalAnimals

  const [pets = warmUp] = repositories
  const ids = Array.from({ length: PROBES }, (_, index) => BigInt(CallerKeys.scattered(index, count) + 1))
  const id = (index: number): bigint => ids[index % PROBES] ?? 1n
  const timed = (call: (index: number) => Effect.Effect<unknown, unknown>): number =>
    time((batch) => Effect.runSync(FiberLoop.times(BATCH, (index) => call(batch * BATCH + index))))
  const page = (query: PageQuery) => pets.page(query)
  const findNanos = timed((index) => pets.find(id(index)))
  const shortPageNanos = timed((index) => page({ limit: 21, status: undefined, after: id(index) }))
  const longPageNanos = timed((index) => page({ limit: 101, after: id(index), status: "available" }))

  ids.length = 0
  for (const each of repositories) listAll(each, count)
  const listedBytes = (Heap.usedBytes() - before) / totalAnimals
  do_not_optimize(repositories)
  const size = thousands(count)
  return {
    [`find, ${size} animals`]: ns(findNanos),
    [`page of 21, ${size} animals`]: ns(shortPageNanos),
    [`page of 101 with a status, ${size} animals`]: ns(longPageNanos),
    [`an animal of ${size}`]: bytes(unreadBytes),
    [`an animal of ${size}, once listed`]: bytes(listedBytes)
  }
}

const isOther = (name: string): name is Limiters.OtherName => Object.hasOwn(Limiters.others, name)

const [kind, name = "", count = ""] = process.argv.slice(2)
const measured =
  kind === "animals"
    ? animals(Number(count))
    : await (isOther(name) ? otherLimits(name, Number(count)) : ourLimits(Number(count)))
// Timers of some limiters would keep the process alive.
process.send?.(measured, () => process.exit())
