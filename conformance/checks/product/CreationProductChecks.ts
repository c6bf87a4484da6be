/** Laws about creations with every name, encoding and content type, and where the animal is shown (contract §2, §4.2). */
import * as Effect from "effect/Effect"
import * as Int64 from "../../../core/domain/Int64.ts"
import * as PetStatus from "../../../core/domain/PetStatus.ts"
import * as Accepts from "../../dimensions/Accepts.ts"
import * as Bodies from "../../dimensions/Bodies.ts"
import * as Names from "../../dimensions/Names.ts"
import * as Product from "../../dimensions/Product.ts"
import type { Http, Sent } from "../../evaluation/Http.ts"
import { expect, type Failure, inapplicable, type Violation } from "../../evaluation/Outcome.ts"
import type { Animal } from "../../http/Animal.ts"
import * as PetJson from "../../http/PetJson.ts"
import type { Header } from "../../http/Wire.ts"
import { outcome } from "../../subjects/Conversation.ts"
import { REMOVAL_BEGINS } from "../../subjects/HttpCatalogue.ts"
import { type Check, define } from "../Check.ts"
import * as Creations from "../http/Creations.ts"
import * as Lists from "../http/Lists.ts"
import * as Responses from "../http/Responses.ts"
import * as Envelope from "./Envelope.ts"

const statuses = {
  ...Object.fromEntries(PetStatus.all.map((status) => [status, status])),
  "no status": undefined
} as { readonly [status in PetStatus.PetStatus]: status } & { readonly "no status": undefined } // one entry each

const categories = {
  one: 1n,
  "beyond doubles": 2n ** 53n + 1n,
  largest: Int64.max,
  smallest: Int64.min,
  zero: 0n
} as const

/** Where the new animal is looked for. */
const places = { "list with its status": "filtered", "its id": "get", "list of all": "list" } as const

const product = Product.of({
  characters: Names.characters,
  length: Names.lengths,
  form: Bodies.forms,
  type: Bodies.types,
  status: statuses,
  category: categories,
  accept: Accepts.accepts,
  shown: places
})

/** Largest list; a list with fewer animals shows all that match. */
const FULL = 100

/** Statuses with which a server rejects a form or content type that the contract leaves open. */
const OPEN: ReadonlySet<number> = new Set([400, 406, 411, 413, 415, 501])

/** Names that every service accepts: a few letters. */
const isPlainName = (name: string): boolean => /^[A-Za-z]{1,12}$/.test(name)

/** Fails unless the animal has the fields that were sent; a server may compose characters. */
const isAsSent = (
  sent: Bodies.Fields,
  { categoryId, name, status }: Animal
): Effect.Effect<void, Violation> =>
  expect(
    name.normalize("NFC") === sent.name &&
      categoryId === sent.categoryId &&
      (sent.status === undefined || status === sent.status),
    `the animal as sent: name ${PetJson.show(sent.name)}, categoryId ${sent.categoryId}, ${sent.status ?? "any status"}`,
    PetJson.line({ id: 0n, name, categoryId, status }).replace("id 0, ", "")
  )

/** The animal as one place shows it; `undefined` where that place need not show it. */
const shownIn = Effect.fnUntraced(function* (
  http: Http,
  place: (typeof places)[keyof typeof places],
  headers: ReadonlyArray<Header>,
  animal: Animal
): Effect.fn.Return<Animal | undefined, Failure> {
  if (place === "get") {
    if ((yield* http.now) >= REMOVAL_BEGINS - 60_000) return undefined
    const exchange = yield* http.send({ path: `/pets/${animal.id}`, headers })
    if (exchange.response.status === 406) return undefined
    return yield* Responses.pet(exchange, 200)
  }
  if (place === "filtered" && animal.status === undefined) return undefined
  const query = place === "filtered" ? `status=${animal.status}&limit=${FULL}` : `limit=${FULL}`
  const exchange = yield* http.send({ path: Lists.pathOf(query), headers })
  if (exchange.response.status === 406) return undefined
  const animals = yield* Lists.listOf(exchange)
  const shown = animals.find(({ id }) => id === animal.id)
  yield* expect(
    shown !== undefined || animals.length >= FULL,
    `${PetJson.line(animal)} in a list of ?${query}`,
    `${animals.length} animals without it`
  )
  return shown
})

export const checks: ReadonlyArray<Check> = [
  define({
    id: "product.creation",
    law: "What is created is returned and shown as sent, whatever its name and however its JSON is written.",
    clauses: [
      "create.status-201",
      "create.returns-created",
      "create.status-kept",
      "create.int64-exact",
      "list.sees-created",
      "list.faithful",
      "get.found",
      "get.faithful",
      ...Envelope.clauses
    ],
    level: "design",
    profile: "core",
    on: "http",
    requests: 141,
    product: product.shape,
    examples: product.examples,
    cases: product.cases,
    runs: { port: 0, http: 4 },
    *holds(http, given, trial) {
      const form = Bodies.formOf(given.form)
      const fields = {
        name: Names.of(trial.name(), given.characters, given.length),
        categoryId: Creations.categoryOf(http, categories[given.category]),
        status: statuses[given.status]
      }
      const { value } = Accepts.accepts[given.accept]
      const accept: ReadonlyArray<Header> = value === undefined ? [] : [["Accept", value]]
      const sent: Sent = {
        method: "POST",
        path: "/pets",
        headers: [
          ["Content-Type", Bodies.types[given.type]],
          ...accept,
          ...(form.isChunked === true ? [["Transfer-Encoding", "chunked"] as const] : [])
        ],
        body: form.write(fields)
      }
      const exchange = yield* http.send(sent)
      yield* Envelope.holds(exchange)
      const { status } = exchange.response
      const isOpen =
        form.isOpen === true ||
        given.type !== "application/json" ||
        !isPlainName(fields.name) ||
        Accepts.accepts[given.accept].excludesJson
      if (isOpen && OPEN.has(status)) {
        return yield* inapplicable(`the service rejects such a creation: ${outcome(exchange.response)}`)
      }
      const animal = yield* Responses.pet(exchange, 201)
      yield* isAsSent(fields, animal)
      const shown = yield* shownIn(http, places[given.shown], accept, animal)
      if (shown !== undefined) {
        yield* expect(
          shown.name === animal.name && shown.categoryId === animal.categoryId && shown.id === animal.id,
          `${given.shown} to show ${PetJson.line(animal)}`,
          PetJson.line(shown)
        )
      }
      const { shown: place, ...rest } = given
      trial.tried(shown === undefined ? rest : { ...rest, shown: place })
    }
  })
]
