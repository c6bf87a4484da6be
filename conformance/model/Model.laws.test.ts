import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import { beforeAll, describe, expect, it } from "vitest"
import * as JudgedRun from "../engine/JudgedRun.ts"
import * as Judges from "../engine/Judges.ts"
import { type Header, header, type Transport, text, type WireResponse } from "../http/Wire.ts"
import * as ArrayStores from "../selftest/ArrayStores.ts"
import * as Draws from "../selftest/mutants/Draws.ts"
import * as RandomConversation from "../selftest/mutants/RandomConversation.ts"
import type * as Recording from "../selftest/Recording.ts"
import * as ServiceTarget from "../selftest/ServiceTarget.ts"
import * as Edit from "../selftest/spoilers/Edit.ts"
import type { HttpTarget } from "../subjects/HttpSubject.ts"
import type { Exchange, Setup } from "./Exchange.ts"

const REQUESTS = 700

/** Returns what a user declares about a subject in process, and the plan of the main key. */
const setupOf = (target: HttpTarget): Setup => {
  const setup = JudgedRun.setupOf(target)
  const keys = setup.keys.map((key) =>
    key.name === "main" ? { ...key, plan: ServiceTarget.plans.main } : key
  )
  return { ...setup, keys }
}

/** Returns a transport that reports each exchange, with the time of the subject's clock. */
const tap = (
  { clock, transport }: Pick<HttpTarget, "clock" | "transport">,
  record: (exchange: Exchange) => void
): Transport => {
  let [inFlight, sent] = [0, 0]
  const now = clock?.now ?? Effect.succeed(Number.NaN)
  return (request) =>
    Effect.gen(function* () {
      const wasAlone = inFlight++ === 0
      const ordinal = ++sent
      const from = yield* now
      const finish = (response: WireResponse | undefined) =>
        Effect.map(now, (to) => {
          inFlight--
          const did = `${request.method} ${request.target}`
          const isAlone = wasAlone && sent === ordinal
          record({ index: ordinal - 1, did, request, response, from, to, isAlone })
        })
      return yield* transport(request).pipe(
        Effect.tap(finish),
        Effect.tapError(() => finish(undefined))
      )
    })
}

/** Records random requests to the service of the core, with a clock that stands still between them or jumps. */
const record = (seed: number): Promise<Recording.Recording> => {
  const exchanges: Array<Exchange> = []
  return Effect.runPromise(
    Effect.gen(function* () {
      const target = yield* ServiceTarget.make({ name: "core", stores: ArrayStores.layer })
      const transport = tap(target, (exchange) => exchanges.push(exchange))
      yield* RandomConversation.run({ ...target, transport }, REQUESTS, Draws.make(seed))
      return { setup: setupOf(target), exchanges }
    }).pipe(Effect.scoped, Random.withSeed(seed))
  )
}

const isOk = (exchange: Exchange): boolean => exchange.response?.status === 200
const isList = ({ request: { method, target } }: Exchange): boolean =>
  method === "GET" && /\/pets(?:\?|$)/.test(target)
const isGet = ({ request: { method, target } }: Exchange): boolean =>
  method === "GET" && /\/pets\/\d/.test(target)
const isCreated = (exchange: Exchange): boolean => exchange.response?.status === 201
const isError = (exchange: Exchange): boolean =>
  (exchange.response?.status ?? 0) >= 400 && exchange.request.method !== "HEAD"
const isOfKey = ({ request }: Exchange): boolean =>
  /Bearer ast_/.test(request.headers.map(([, value]) => value).join())
/** Whether a denial is not by a ban, whose rules are up to the service (§8.4.3). */
const isDenied = (exchange: Exchange): boolean =>
  exchange.response?.status === 429 && isOfKey(exchange) && !text(exchange.response.body).includes("banned")
/** Whether the key is the one that creates animals; another key need not see them. */
const isOfMain = ({ response }: Exchange): boolean =>
  response !== undefined &&
  header(response, "X-RateLimit-Limit") === String(ServiceTarget.plans.main.perMinute)
const isFilled = (exchange: Exchange): boolean => (exchange.response?.body.length ?? 0) > 2

const number = (response: WireResponse, name: string): number => Number(header(response, name))
const raise = (name: string, by: number) => (response: WireResponse) =>
  Edit.header(name, String(number(response, name) + by))(response)

interface SmallEdit {
  readonly does: string
  readonly to: (exchange: Exchange) => boolean
  readonly edit: (response: WireResponse) => WireResponse
}

const edits: ReadonlyArray<SmallEdit> = [
  ...["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"].map((name) => ({
    does: `drops ${name} of any response`,
    to: () => true,
    edit: Edit.without(name)
  })),
  {
    does: "sends Remaining twice",
    to: () => true,
    edit: (response) => ({
      ...response,
      headers: [...response.headers, ["X-RateLimit-Remaining", "1"] satisfies Header]
    })
  },
  {
    does: "adds one to Remaining of a valid key",
    to: (exchange) => isOfKey(exchange) && isOk(exchange),
    edit: raise("X-RateLimit-Remaining", 1)
  },
  {
    does: "takes one from Remaining of a valid key",
    to: (exchange) => isOfKey(exchange) && isCreated(exchange),
    edit: raise("X-RateLimit-Remaining", -1)
  },
  {
    does: "adds one to Limit of a valid key",
    to: (exchange) => isOfKey(exchange) && isOk(exchange),
    edit: raise("X-RateLimit-Limit", 1)
  },
  {
    does: "sends Reset as milliseconds",
    to: () => true,
    edit: (response) =>
      Edit.header("X-RateLimit-Reset", `${header(response, "X-RateLimit-Reset")}000`)(response)
  },
  { does: "sends Reset as a duration", to: isOfKey, edit: Edit.header("X-RateLimit-Reset", "30") },
  { does: "drops Retry-After", to: isDenied, edit: Edit.without("Retry-After") },
  {
    does: "admits a denied list",
    to: (exchange) => isDenied(exchange) && isList(exchange),
    edit: Edit.replace(200, "[]")
  },
  {
    does: "denies an admitted request",
    to: (exchange) => isOfKey(exchange) && isOk(exchange),
    edit: (response) => Edit.header("Retry-After", "1")(Edit.error(429, "slow")(response))
  },
  { does: "sends an empty error body", to: isError, edit: Edit.body("") },
  {
    does: "sends another status in an error body",
    to: isError,
    edit: Edit.members((members) => ({ ...members, status: 418n }))
  },
  { does: "sends a page for JSON", to: isFilled, edit: Edit.body("<h1>It works</h1>") },
  {
    does: "sends 500 for 200",
    to: (exchange) => isOk(exchange) && exchange.request.method === "GET",
    edit: Edit.error(500, "internal")
  },
  {
    does: "accepts a wrong key",
    to: (exchange) => exchange.response?.status === 401 && isList(exchange),
    edit: Edit.replace(200, "[]")
  },
  { does: "sends 200 for 201", to: isCreated, edit: Edit.status(200) },
  {
    does: "sends 201 for 400",
    to: (exchange) => exchange.response?.status === 400 && exchange.request.method === "POST",
    edit: Edit.replace(201, '{"id":999999,"name":"a","categoryId":1,"status":"sold"}')
  },
  {
    does: "returns another name",
    to: isCreated,
    edit: Edit.members((members) => ({ ...members, name: `${members.name}x` }))
  },
  {
    does: "returns another category",
    to: isCreated,
    edit: Edit.members((members) => ({ ...members, categoryId: 77n }))
  },
  {
    does: "returns the first id again",
    to: (exchange) => isCreated(exchange) && !text(exchange.response?.body).includes('"id":1,'),
    edit: Edit.members((members) => ({ ...members, id: 1n }))
  },
  {
    does: "retrieves another animal",
    to: (exchange) => isGet(exchange) && isOk(exchange),
    edit: Edit.members((members) => ({ ...members, id: 77_777n }))
  },
  {
    does: "renames a retrieved animal",
    to: (exchange) => isGet(exchange) && isOk(exchange),
    edit: Edit.members((members) => ({ ...members, name: "Other" }))
  },
  {
    does: "lists one animal twice",
    to: (exchange) => isList(exchange) && isOk(exchange) && isFilled(exchange),
    edit: listed((animals) => [...animals.slice(1), ...animals.slice(-1), ...animals.slice(-1)])
  },
  {
    does: "lists no animal",
    to: (exchange) => isList(exchange) && isOk(exchange) && isFilled(exchange) && isOfMain(exchange),
    edit: Edit.body("[]")
  },
  {
    does: "wraps a list",
    to: (exchange) => isList(exchange) && isOk(exchange),
    edit: Edit.rewritten((body) => `{"items":${body}}`)
  }
]

function listed(change: (animals: ReadonlyArray<unknown>) => ReadonlyArray<unknown>) {
  return (response: WireResponse): WireResponse => {
    const animals = Edit.animalsOf(response)
    return animals === undefined ? response : Edit.body(Edit.write(change(animals)))(response)
  }
}

/** Whether the model finds a violation in exchanges that follow what is known; judges no more of them than needed. */
const isRejected = (known: Judges.Knowledge, exchanges: ReadonlyArray<Exchange>): boolean => {
  let current = known
  for (const exchange of exchanges) {
    const judged = Judges.judge(current, [exchange])
    if (judged.violations.length > 0) return true
    current = judged.known
  }
  return Judges.close(current).violations.length > 0
}

describe("the model", () => {
  let exchanges: ReadonlyArray<Exchange> = []
  /** What is known before each exchange, so that no test judges the exchanges before the edited one again. */
  const knownBefore: Array<Judges.Knowledge> = []
  beforeAll(async () => {
    const recording = await record(1)
    exchanges = recording.exchanges
    let known = Judges.begin(recording.setup, "spec")
    for (const exchange of exchanges) {
      knownBefore.push(known)
      known = Judges.judge(known, [exchange]).known
    }
  })

  it.each([1, 2, 3])("accepts random histories of the core: seed %d", async (seed) => {
    const { exchanges, setup } = await record(seed)
    expect(exchanges).toHaveLength(exchanges.filter(({ isAlone }) => isAlone).length)
    expect(Judges.violationsOf(setup, "spec", exchanges)).toEqual([])
  })

  it.each(edits)("rejects a history in which one response $does", ({ edit, to }) => {
    const all = exchanges.flatMap((exchange, index) => (to(exchange) ? [index] : []))
    expect(all.length).toBeGreaterThan(0)
    // Three positions: an early one, one in the middle, and a late one.
    for (const share of [0.1, 0.5, 0.9]) {
      const at = all[Math.floor(share * all.length)] ?? 0
      const [exchange, ...later] = exchanges.slice(at)
      const known = knownBefore[at]
      if (known === undefined || exchange?.response === undefined)
        throw new Error(`there is no response ${at}`)
      const edited = { ...exchange, response: edit(exchange.response) }
      expect(isRejected(known, [edited, ...later]), `exchange ${at}`).toBe(true)
    }
  })
})
