/**
 * How long calls within a process take, each beside what else would do it: the decision about a request, the limits in
 * memory, JSON both ways, and whole requests without a socket.
 */
import { Buffer } from "node:buffer"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { do_not_optimize } from "mitata"
import * as NodeDigest from "../../adapters/embed/NodeDigest.ts"
import * as Memory from "../../adapters/memory/Memory.ts"
import * as KeyLifecycle from "../../core/access/KeyLifecycle.ts"
import { jsonOf, Pet } from "../../core/domain/Pet.ts"
import * as BanPolicy from "../../core/limits/BanPolicy.ts"
import * as RateLimit from "../../core/limits/RateLimit.ts"
import * as Immediate from "../../core/ports/Immediate.ts"
import { PetRepository } from "../../core/ports/PetRepository.ts"
import * as Service from "../../core/service/Service.ts"
import type { ServiceRequest } from "../../core/service/ServiceRequest.ts"
import * as NewPetBody from "../../core/validation/NewPetBody.ts"
import { animals, ENDLESS, statuses, type Tokens } from "../http/Catalogue.ts"
import { type Operation, operations } from "../http/Operation.ts"
import * as CallerKeys from "./CallerKeys.ts"
import type { Figure } from "./Figure.ts"
import * as Limiters from "./Limiters.ts"
import { figure } from "./Repeats.ts"
import type { Section } from "./Section.ts"
import { nanosPerCall } from "./Timing.ts"

/** Something to be measured. */
interface Call {
  readonly name: string
  /** Makes the calls and uses their results; called again and again, it goes on from where it was. */
  readonly run: () => unknown
  /** How many calls `run` makes; 1 by default. */
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

/** Steps of one caller, `interval` ms apart, each from the state that the one before has left. */
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
  const admitted = steps(60, { plan: { perMinute: 1_000, perDay: ENDLESS }, ban: BanPolicy.standard })
  // A request a second against one a minute: the first is admitted, the second denied, all others earn a strike.
  const lenient = { ...BanPolicy.standard, strikes: 1_000 }
  const denied = steps(1_000, { plan: { perMinute: 1, perDay: ENDLESS }, ban: lenient })
  const harsh: BanPolicy.BanPolicy = { ...BanPolicy.standard, strikes: 1, durationsMs: [BanPolicy.maxMs] }
  const banned = steps(1_000, { plan: { perMinute: 1, perDay: ENDLESS }, ban: harsh })
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
        do_not_optimize(Effect.runSync(Limiters.consume(limits, key, Date.now(), Limiters.endless)))
      }
    },
    ...Object.entries(Limiters.others).map(([name, make]): Call => {
      const limiter = make()
      return { name, calls: CALLERS, run: () => limiter.consume(callers) }
    })
  ]
}

/** What a program without int64 would declare. */
const PlainPet = Schema.Struct({
  name: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(255)),
  categoryId: Schema.Int,
  status: Schema.Literals(statuses)
})

const reading = (): ReadonlyArray<Call> => {
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

/** Looks at the text, so that V8 has to join the pieces that it would else keep apart. */
const use = (text: string): void => do_not_optimize(text.charCodeAt(text.length - 1))

const LISTS = [20, 100]

const writing = (): ReadonlyArray<Call> => {
  const ours = animals.map((animal, index) => ({
    id: BigInt(index + 1),
    pet: { ...animal, categoryId: BigInt(animal.categoryId) }
  }))
  const pets = ours.map(({ id, pet }) => new Pet(id, pet))
  const plain = animals.map((animal, index) => ({ id: index + 1, ...animal }))
  let index = 0
  const next = <A>(of: ReadonlyArray<A>): A => {
    const item = of[index++ % of.length]
    if (item === undefined) throw new Error("there is none")
    return item
  }
  return [
    {
      name: "Pet.json, first time",
      run: () => {
        const { id, pet } = next(ours)
        use(new Pet(id, pet).json)
      }
    },
    { name: "Pet.json, kept", run: () => use(next(pets).json) },
    { name: "JSON.stringify of one", run: () => use(JSON.stringify(next(plain))) },
    ...LISTS.flatMap((length): ReadonlyArray<Call> => {
      const list = pets.slice(0, length)
      const plainList = plain.slice(0, length)
      return [
        {
          name: `list of ${length}, texts kept`,
          run: () => use(jsonOf(list).text)
        },
        { name: `JSON.stringify of ${length}`, run: () => use(JSON.stringify(plainList)) }
      ]
    })
  ]
}

/** A service over memory stores with the catalogue in them, and its two callers. */
const openService = Effect.gen(function* () {
  const { service, ports } = yield* Effect.scoped(
    Effect.gen(function* () {
      const base = Layer.mergeAll(Memory.layer, NodeDigest.layer, SecureRandom.layerWebCrypto)
      const anonymousPlan = { perMinute: ENDLESS, perDay: ENDLESS }
      const context = yield* Layer.build(Layer.provideMerge(Service.layer({ anonymousPlan }), base))
      return { service: Context.get(context, Service.Service), ports: context }
    })
  )
  const issue = (perMinute: number, perDay: number) =>
    Effect.map(KeyLifecycle.issue({ plan: "Enterprise", limits: { perMinute, perDay } }), ({ secret }) =>
      Redacted.value(secret)
    )
  return yield* Effect.provideContext(
    Effect.gen(function* () {
      const pets = yield* PetRepository
      for (const animal of animals) yield* pets.insert({ ...animal, categoryId: BigInt(animal.categoryId) })
      const tokens: Tokens = { endless: yield* issue(ENDLESS, ENDLESS), exhausted: yield* issue(1, 1) }
      return { service, tokens }
    }),
    ports
  )
})

const requestOf = ({ body = "", method, target, token }: Operation, tokens: Tokens): ServiceRequest => {
  const headers: { readonly [name: string]: string } = {
    authorization: `Bearer ${token(tokens)}`,
    ...(body === "" ? {} : { "content-type": "application/json" })
  }
  const bytes = Buffer.from(body)
  return {
    method,
    target,
    clientAddress: "192.0.2.1",
    header: (name) => headers[name],
    body: () => Effect.succeed(bytes)
  }
}

const wholeRequests = async (): Promise<ReadonlyArray<Call>> =>
  Promise.all(
    // Each with stores of its own: creating must not make the lists of others longer.
    operations.map(async (operation): Promise<Call> => {
      const clock = await Effect.runPromise(Clock.Clock)
      const { service, tokens } = await Effect.runPromise(openService)
      const request = requestOf(operation, tokens)
      if (operation.name === "429") await Effect.runPromise(service.handle(request))
      const first = await Effect.runPromise(service.handle(request))
      const fault = operation.fault(JSON.parse(first.body))
      if (fault !== undefined) throw new Error(`${operation.name}: ${fault}`)
      return {
        name: operation.name,
        run: () => {
          // As the hosts do it.
          const answer = Immediate.start(service.handle(request, clock))
          if (
            !(Immediate.isDone(answer) && Exit.isSuccess(answer) && answer.value.status === operation.status)
          ) {
            throw new Error(`${operation.name}: answered ${JSON.stringify(answer)}`)
          }
          do_not_optimize(answer)
        }
      }
    })
  )

export const sections: ReadonlyArray<Section> = [
  group("limits, one step", limitSteps),
  group("limits in memory, 1 000 callers", memoryLimits),
  group("JSON, reading a new animal", reading),
  group("JSON, writing animals", writing),
  group("Service.handle", wholeRequests)
]
