/** Creates an animal from named parts, and looks for it where it must be shown (contract §2, §4.2). */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Int64 from "../../../core/domain/Int64.ts"
import * as PetStatus from "../../../core/domain/PetStatus.ts"
import * as Accepts from "../../dimensions/Accepts.ts"
import * as Bodies from "../../dimensions/Bodies.ts"
import * as Names from "../../dimensions/Names.ts"
import type { Http, Sent } from "../../evaluation/Http.ts"
import { expect, type Failure, type Violation } from "../../evaluation/Outcome.ts"
import type { Trial } from "../../evaluation/Trial.ts"
import type { Animal } from "../../http/Animal.ts"
import type { Exchange } from "../../http/Exchange.ts"
import * as PetJson from "../../http/PetJson.ts"
import * as RateHeaders from "../../http/RateHeaders.ts"
import { REMOVAL_BEGINS } from "../../http/Removal.ts"
import type { Header } from "../../http/Wire.ts"
import { outcome } from "../../subjects/Conversation.ts"
import * as Creations from "../http/Creations.ts"
import * as Lists from "../http/Lists.ts"
import * as Responses from "../http/Responses.ts"
import * as Envelope from "./Envelope.ts"
import { isDenied, REFILL_MS } from "./SmallKeys.ts"

export const statuses = {
  ...Object.fromEntries(PetStatus.all.map((status) => [status, status])),
  "no status": undefined
} as { readonly [status in PetStatus.PetStatus]: status } & { readonly "no status": undefined } // one entry each

export const categories = {
  one: 1n,
  "beyond doubles": 2n ** 53n + 1n,
  largest: Int64.max,
  smallest: Int64.min,
  zero: 0n
} as const

/** Where the new animal is looked for. */
export const places = { "list with its status": "filtered", "its id": "get", "list of all": "list" } as const

/** The parts of a creation, by name; an absent part has its simplest value. */
export interface Creation {
  readonly key?: "tiny" | "victim"
  readonly characters: Names.CharactersName
  readonly length?: Names.LengthName
  readonly form?: Bodies.FormName
  readonly type?: Bodies.TypeName
  readonly status?: keyof typeof statuses
  readonly category?: keyof typeof categories
  readonly accept?: Accepts.AcceptName
  readonly shown: keyof typeof places
}

/** Maximum number of animals in a list; a list with fewer shows all animals that match. */
const FULL = 100

/** Statuses with which a server may reject a creation that the contract leaves open. */
const OPEN: ReadonlySet<number> = new Set([400, 406, 411, 413, 415, 422, 501])

/** Whether every service accepts the name: it has at most 12 letters, and nothing else. */
const isPlainName = (name: string): boolean => /^[A-Za-z]{1,12}$/.test(name)

/** Returns a name in form NFKC, because a server may store any form of it that is compatibility-equivalent. */
const toNfkc = (name: string): string => name.normalize("NFKC")

/** Fails unless the animal has the fields that were sent; `normalize` returns the form in which names are compared. */
const expectAsSent = (
  sent: Bodies.Fields,
  { categoryId, name, status }: Animal,
  normalize: (name: string) => string
): Effect.Effect<void, Violation> =>
  expect(
    normalize(name) === normalize(sent.name) &&
      categoryId === sent.categoryId &&
      (sent.status === undefined || status === sent.status),
    `the animal as sent: name ${PetJson.show(sent.name)}, categoryId ${sent.categoryId}, ${sent.status ?? "any status"}`,
    PetJson.line({ id: 0n, name, categoryId, status }).replace("id 0, ", "")
  )

/** Whether a response need not show animals: `Accept` excludes JSON, or a small key is denied, as other laws check. */
const isHidden = (exchange: Exchange): boolean =>
  exchange.response.status === 406 || (exchange.key !== "main" && isDenied(exchange))

/** Returns the animal as a place shows it; `undefined` if the place need not show it. */
const shownIn = Effect.fnUntraced(function* (
  http: Http,
  place: (typeof places)[keyof typeof places],
  by: Pick<Sent, "key" | "headers">,
  animal: Animal,
  { mark }: Trial
): Effect.fn.Return<Animal | undefined, Failure> {
  if (place === "get") {
    if ((yield* http.now) >= REMOVAL_BEGINS - 60_000) return undefined
    const exchange = yield* http.send({ path: `/pets/${animal.id}`, ...by })
    if (isHidden(exchange)) return undefined
    // The request may have waited until the removal.
    if (exchange.receivedAt >= REMOVAL_BEGINS && exchange.response.status !== 200) return undefined
    return yield* Responses.petOf(exchange, 200)
  }
  if (place === "filtered" && animal.status === undefined) return undefined
  const query = place === "filtered" ? `status=${animal.status}&limit=${FULL}` : `limit=${FULL}`
  const exchange = yield* http.send({ path: Lists.pathOf(query), ...by })
  if (isHidden(exchange)) return undefined
  const animals = yield* Lists.listOf(exchange)
  const known = { animals: [animal, ...http.created()], mark }
  yield* Lists.expectSelected(animals, place === "filtered" ? animal.status : undefined, `?${query}`)
  yield* Lists.expectAgreement(animals, known, `?${query}`)
  const shown = animals.find(({ id }) => id === animal.id)
  yield* expect(
    shown !== undefined || animals.length >= FULL,
    `${PetJson.line(animal)} in a list of ?${query}`,
    `${animals.length} animals without it`
  )
  return shown
})

/** The names of the values for which a case was decided, by dimension. */
export type Decided = { readonly [dimension: string]: string }

/**
 * Creates the animal of a case and looks for it. Returns the values for which the case was decided, or the reason why it
 * was not. `normalize` returns the form in which names are compared.
 */
export const createAndFind = Effect.fnUntraced(function* (
  http: Http,
  given: Creation,
  trial: Trial,
  normalize: (name: string) => string = toNfkc
): Effect.fn.Return<Result.Result<Decided, string>, Failure> {
  const { accept = "no Accept", category = "one", status = "no status", type = "application/json" } = given
  const { key = "main", length = "short" } = given
  if (key !== "main") yield* http.advance(REFILL_MS)
  const encoding = Bodies.formOf(given.form ?? "plain")
  // A server may reject a category that does not exist, unless the category is declared.
  const isCategoryOpen = category !== "one" && http.facts.categories === "any"
  const fields = {
    name: Names.of(trial.name(), given.characters, length),
    categoryId: Creations.categoryOf(http, categories[category]),
    status: statuses[status]
  }
  const { excludesJson, value } = Accepts.of(accept)
  const acceptHeaders: ReadonlyArray<Header> = value === undefined ? [] : [["Accept", value]]
  const sent: Sent = {
    method: "POST",
    path: "/pets",
    key,
    headers: [
      ["Content-Type", Bodies.types[type]],
      ...acceptHeaders,
      ...(encoding.isChunked === true ? [["Transfer-Encoding", "chunked"] as const] : [])
    ],
    body: encoding.write(fields)
  }
  const exchange = yield* http.send(sent)
  yield* Envelope.check(exchange)
  if (key !== "main" && isDenied(exchange)) {
    return Result.fail("the key is denied after a day without requests, which another law checks")
  }
  const isOpen =
    encoding.isOpen === true ||
    type !== "application/json" ||
    isCategoryOpen ||
    !isPlainName(fields.name) ||
    excludesJson
  const { status: got } = exchange.response
  if (isOpen && (OPEN.has(got) || (isCategoryOpen && got === 404))) {
    // Escapes make a body longer, and a server may reject long bodies. A short body is never too long.
    if (
      given.form !== undefined &&
      given.form !== "plain" &&
      encoding.isOpen !== true &&
      length === "short"
    ) {
      const plainExchange = yield* http.send({ ...sent, body: Bodies.formOf("plain").write(fields) })
      yield* expect(
        plainExchange.response.status !== 201,
        `${outcome(exchange.response)} for the same JSON written plainly as well`,
        outcome(plainExchange.response)
      )
    }
    return Result.fail(`the service rejects such a creation: ${outcome(exchange.response)}`)
  }
  const animal = yield* Responses.petOf(exchange, 201)
  yield* expectAsSent(fields, animal, normalize)
  if (key !== "main") yield* http.advance(RateHeaders.MINUTE_PASSED_MS)
  const shown = yield* shownIn(http, places[given.shown], { key, headers: acceptHeaders }, animal, trial)
  if (shown !== undefined) {
    yield* expect(
      PetJson.isSameAnimal(shown, animal),
      `${given.shown} to show ${PetJson.line(animal)}`,
      PetJson.line(shown)
    )
  }
  const { category: _category, shown: _shown, ...rest } = given
  return Result.succeed({
    ...rest,
    ...(fields.categoryId === categories[category] && given.category !== undefined ? { category } : {}),
    ...(shown === undefined ? {} : { shown: given.shown })
  })
})
