/**
 * Measures the time of calls within a process, and of alternatives to them: a step of the limits, the limits in memory,
 * reading and writing JSON, and whole requests without a socket.
 */
import { Buffer } from "node:buffer"
import * as Context from "effect/Context"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { do_not_optimize } from "mitata"
import * as NodeDigest from "../../adapters/embed/NodeDigest.ts"
import * as Memory from "../../adapters/memory/Memory.ts"
import * as ApiKeySecret from "../../core/access/ApiKeySecret.ts"
import * as KeyLifecycle from "../../core/access/KeyLifecycle.ts"
import * as NewPetBody from "../../core/codec/NewPetBody.ts"
import * as PetJson from "../../core/codec/PetJson.ts"
import { Pet } from "../../core/domain/Pet.ts"
import * as BanPolicy from "../../core/limits/BanPolicy.ts"
import * as RateLimit from "../../core/limits/RateLimit.ts"
import { PetRepository } from "../../core/ports/PetRepository.ts"
import * as Service from "../../core/service/Service.ts"
import type { ServiceRequest } from "../../core/service/ServiceRequest.ts"
import { animals, callerCounts, statuses, type Tokens, UNREACHABLE_LIMIT } from "../http/Catalogue.ts"
import * as Wire from "../http/Wire.ts"
import * as Workload from "../http/Workload.ts"
import * as CallerKeys from "./CallerKeys.ts"
import type { Figure } from "./Figure.ts"
import * as Limiters from "./Limiters.ts"
import { figure } from "./Repeats.ts"
import type { Section } from "./Section.ts"
import { nanosPerCall } from "./Timing.ts"

/** A call to be measured. */
interface Call {
  readonly name: string
  /** Makes the calls and uses their results; each run continues where the previous one ended. */
  readonly run: () => unknown
  /** Number of calls that `run` makes; 1 by default. */
  readonly calls?: number
}

const group = (name: string, calls: () => Iterable<Call> | Promise<Iterable<Call>>): Section => ({
  name,
  run: async (progress) => {
    const figures: Array<Figure> = []
    for (const call of await calls()) {
      progress(`${name}: ${call.name}`)
      figures.push(figure(name, call.name, "ns", await nanosPerCall(call.run, call.calls)))
    }
    return figures
  }
})

const start = Date.UTC(2027, 0, 1)

/** Returns a function that makes the next step of one caller, `interval` milliseconds after the previous one. */
const steps = (interval: number, policy: RateLimit.Policy): (() => RateLimit.Verdict) => {
  let state: RateLimit.State | undefined
  let now = start
  return () => {
    now += interval
    const [verdict, next] = RateLimit.step(state, now, policy)
    state = next
    return verdict
  }
}

const limitSteps = (): ReadonlyArray<Call> => {
  const admitted = steps(60, {
    plan: { perMinute: 1_000, perDay: UNREACHABLE_LIMIT },
    ban: BanPolicy.standard
  })
  // One request per second with a limit of one per minute: in each minute, one is admitted, one is denied without a
  // strike, and 58 are denied with a strike.
  const lenient = { ...BanPolicy.standard, strikes: 1_000 }
  const denied = steps(1_000, { plan: { perMinute: 1, perDay: UNREACHABLE_LIMIT }, ban: lenient })
  const harsh: BanPolicy.BanPolicy = { ...BanPolicy.standard, strikes: 1, durationsMs: [BanPolicy.maxMs] }
  const banned = steps(1_000, { plan: { perMinute: 1, perDay: UNREACHABLE_LIMIT }, ban: harsh })
  return [
    { name: "admitted", run: () => do_not_optimize(admitted()) },
    { name: "denied, 58 of 60 with a strike", run: () => do_not_optimize(denied()) },
    { name: "banned", run: () => do_not_optimize(banned()) }
  ]
}

const CALLERS = 1_000

const memoryLimits = (): ReadonlyArray<Call> => {
  const callers = CallerKeys.keys(0, CALLERS)
  const ours = Limiters.animalStore()
  const limits = Limiters.memoryStore()
  let index = 0
  return [
    { name: "animal-store", calls: CALLERS, run: () => ours.consume(callers) },
    {
      name: "animal-store, a fiber for each",
      run: () => {
        const key = callers[index++ % CALLERS] ?? ""
        do_not_optimize(Effect.runSync(Limiters.consume(limits, key, Date.now(), Limiters.unlimited)))
      }
    },
    ...Object.entries(Limiters.others).map(([name, make]): Call => {
      const limiter = make()
      return { name, calls: CALLERS, run: () => limiter.consume(callers) }
    })
  ]
}

/** The schema that a program without int64 values would declare. */
const PlainPet = Schema.Struct({
  name: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(255)),
  categoryId: Schema.Int,
  status: Schema.Literals(statuses)
})

const jsonReads = (): ReadonlyArray<Call> => {
  const bodies = animals.map((animal) => new Uint8Array(Buffer.from(JSON.stringify(animal))))
  const decoder = new TextDecoder("utf-8", { fatal: true })
  const decodePlain = Schema.decodeUnknownResult(PlainPet, { errors: "all" })
  let index = 0
  const body = (): Uint8Array => bodies[index++ % bodies.length] ?? new Uint8Array()
  return [
    {
      name: "NewPetBody.decode",
      run: () => do_not_optimize(Result.getOrThrow(NewPetBody.decode(body(), false)))
    },
    { name: "JSON.parse", run: () => do_not_optimize(JSON.parse(decoder.decode(body()))) },
    {
      name: "JSON.parse, then effect's Schema",
      run: () => do_not_optimize(Result.getOrThrow(decodePlain(JSON.parse(decoder.decode(body())))))
    }
  ]
}

/** Reads a character, so that V8 has to flatten the string. */
const use = (text: string): void => do_not_optimize(text.charCodeAt(text.length - 1))

const LISTS = [20, 100]

const jsonWrites = (): ReadonlyArray<Call> => {
  const ours = animals.map((animal, index) => ({
    id: BigInt(index + 1),
    pet: { ...animal, categoryId: BigInt(animal.categoryId) }
  }))
  const pets = ours.map(({ id, pet }) => new Pet(id, pet))
  const plain = animals.map((animal, index) => ({ id: index + 1, ...animal }))
  let index = 0
  const next = <A>(items: ReadonlyArray<A>): A => {
    const item = items[index++ % items.length]
    if (item === undefined) throw new Error("the list of items is empty")
    return item
  }
  /** Divides items into pages of a length; consecutive pages differ. */
  const pages = <A>(items: ReadonlyArray<A>, length: number): ReadonlyArray<ReadonlyArray<A>> =>
    Array.from({ length: items.length / length }, (_, page) =>
      items.slice(page * length, (page + 1) * length)
    )
  return [
    {
      name: "PetJson.encode",
      run: () => {
        const { id, pet } = next(ours)
        use(PetJson.encode(new Pet(id, pet)))
      }
    },
    { name: "JSON.stringify of one", run: () => use(JSON.stringify(next(plain))) },
    ...LISTS.flatMap((length): ReadonlyArray<Call> => {
      const [lists, plainLists] = [pages(pets, length), pages(plain, length)]
      return [
        { name: `list of ${length}`, run: () => use(PetJson.encodeAll(next(lists))) },
        { name: `JSON.stringify of ${length}`, run: () => use(JSON.stringify(next(plainLists))) }
      ]
    })
  ]
}

/** Opens a service with memory stores that contain the animals of the catalogue, and issues keys for its callers. */
const openService = Effect.gen(function* () {
  const { service, ports } = yield* Effect.scoped(
    Effect.gen(function* () {
      const base = Layer.mergeAll(Memory.layer, NodeDigest.layer, SecureRandom.layerWebCrypto)
      const anonymousPlan = { perMinute: UNREACHABLE_LIMIT, perDay: UNREACHABLE_LIMIT }
      const context = yield* Layer.build(Layer.provideMerge(Service.layer({ anonymousPlan }), base))
      return { service: Context.get(context, Service.Service), ports: context }
    })
  )
  const issue = (limit: number) =>
    Effect.map(
      KeyLifecycle.issue({ plan: "Enterprise", limits: { perMinute: limit, perDay: limit } }),
      ({ secret }) => secret
    )
  const times = <E, R>(count: number, secret: Effect.Effect<Redacted.Redacted<string>, E, R>) =>
    Effect.all(
      Array.from({ length: count }, () => Effect.map(secret, (redacted) => Redacted.value(redacted)))
    )
  return yield* Effect.provideContext(
    Effect.gen(function* () {
      const pets = yield* PetRepository
      for (const animal of animals) yield* pets.insert({ ...animal, categoryId: BigInt(animal.categoryId) })
      const tokens: Tokens = {
        unlimited: yield* times(callerCounts.unlimited, issue(UNREACHABLE_LIMIT)),
        exhausted: yield* times(callerCounts.exhausted, issue(1)),
        unknown: yield* times(callerCounts.unknown, ApiKeySecret.generate)
      }
      return { service, tokens }
    }),
    ports
  )
})

const requestOf = (
  request: Workload.PlannedRequest,
  { cursors, tokens }: Pick<Wire.Address, "cursors" | "tokens">
): ServiceRequest => {
  const { body, method, sender } = request
  const headers: { readonly [name: string]: string | undefined } = {
    authorization: Wire.authorizationOf(sender, tokens),
    "content-type": body === undefined ? undefined : "application/json"
  }
  const bytes = Buffer.from(body ?? "")
  return {
    method,
    target: Wire.targetOf(request, cursors),
    clientAddress: "192.0.2.1",
    header: (name) => headers[name],
    body: () => Effect.succeed(bytes)
  }
}

const REQUESTS = 5_000

/** Prepares the calls of one workload, with its own stores, so that created animals do not affect other workloads. */
const serviceCalls = async (workload: Workload.Workload): Promise<Call> => {
  const { service, tokens } = await Effect.runPromise(openService)
  const list = (token: string | undefined, target: string): ServiceRequest => ({
    method: "GET",
    target,
    clientAddress: "192.0.2.1",
    header: (name) => (name === "authorization" ? `Bearer ${token}` : undefined),
    body: () => Effect.succeed(new Uint8Array())
  })
  for (const token of tokens.exhausted) await Effect.runPromise(service.handle(list(token, "/v1/pets")))
  const cursors = await Wire.collectCursors(async (target) => {
    const { headers } = await Effect.runPromise(service.handle(list(tokens.unlimited[0], target)))
    return headers.find(([name]) => name.toLowerCase() === "link")?.[1]
  })
  const requests = Workload.plan(workload, 1, REQUESTS).map((planned) => ({
    request: requestOf(planned, { cursors, tokens }),
    status: planned.status
  }))
  let index = 0
  return {
    name: workload.name,
    run: () => {
      const next = requests[index++ % REQUESTS]
      if (next === undefined) throw new Error("the list of requests is empty")
      const response = Effect.runSync(service.handle(next.request))
      if (response.status !== next.status) throw new Error(`${workload.name}: status ${response.status}`)
      do_not_optimize(response)
    }
  }
}

const wholeRequests = (): Promise<ReadonlyArray<Call>> =>
  Promise.all([Workload.mix, ...Workload.operations].map(serviceCalls))

export const sections: ReadonlyArray<Section> = [
  group("limits, one step", limitSteps),
  group("limits in memory, 1,000 callers", memoryLimits),
  group("JSON, reading a new animal", jsonReads),
  group("JSON, writing animals", jsonWrites),
  group("Service.handle", wholeRequests)
]
