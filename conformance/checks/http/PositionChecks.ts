/** A law about animals with unusual content at each position of a list (contract §2, §4.1). */
import * as Effect from "effect/Effect"
import type * as PetStatus from "../../../core/domain/PetStatus.ts"
import type { Http } from "../../evaluation/Http.ts"
import { expect, type Failure } from "../../evaluation/Outcome.ts"
import type { Trial } from "../../evaluation/Trial.ts"
import type { Animal } from "../../http/Animal.ts"
import * as PetJson from "../../http/PetJson.ts"
import { type Check, family } from "../Check.ts"
import * as Creations from "./Creations.ts"
import * as Lists from "./Lists.ts"
import * as Responses from "./Responses.ts"

/** A service that accepts a name must not change these letters. They make the name longer than 200 characters. */
const LETTERS = "Aa".repeat(105)

/** Markup, spaces, composed and decomposed letters, and a character of four bytes; a service may change these. */
const SYMBOLS = " <b>&amp;  \u00e9e\u0301\u{1f98a}"

/** Ends of names, from the most unusual to one that every service accepts. */
const tails = [`${SYMBOLS}${LETTERS} `, `${SYMBOLS} `, " <b>&  a", ""] as const

/** Categories that a double cannot represent exactly, and that rounding to tens changes. */
const unusualCategories = {
  sold: -(2n ** 53n) - 3n,
  pending: -(2n ** 60n) - 7n,
  available: 2n ** 62n + 9n
} as const satisfies { readonly [status in PetStatus.PetStatus]: bigint }

/** What a creation sends, in addition to the unique part of the name. */
interface Content {
  readonly tail: string
  readonly categoryId: bigint
  readonly status: PetStatus.PetStatus
}

/** Returns the contents to try for an animal with this status, beginning with the tail at index `firstTail`. */
const contentsOf = (status: PetStatus.PetStatus, firstTail: number): ReadonlyArray<Content> =>
  [unusualCategories[status], 1n].flatMap((categoryId) =>
    tails.slice(firstTail).map((tail) => ({ tail, categoryId, status }))
  )

/** Creates an animal; returns `undefined` if the service rejects this content, as the contract allows. */
const createUnlessRejected = Effect.fnUntraced(function* (
  http: Http,
  trial: Trial,
  { categoryId: wanted, status, tail }: Content
): Effect.fn.Return<Animal | undefined, Failure> {
  const unique = trial.name()
  const categoryId = Creations.categoryOf(http, wanted)
  const sent = PetJson.draft({ name: `${unique}${tail}`, categoryId, status })
  const exchange = yield* http.send(Creations.withBody(sent))
  const mayBeRejected = tail !== "" || wanted !== 1n
  const { status: got } = exchange.response
  if (mayBeRejected && got >= 400 && got < 500) return undefined
  const animal = yield* Responses.petOf(exchange, 201)
  const name = animal.name.normalize("NFKC")
  yield* expect(
    animal.categoryId === categoryId &&
      animal.status === status &&
      name.includes(unique) &&
      (!tail.includes(LETTERS) || name.includes(LETTERS)),
    `an animal with the category, the status and all letters of ${sent}`,
    PetJson.line(animal),
    "create.returns-created"
  )
  return animal
})

/** Creates the most unusual animal that the service accepts, beginning with the tail at index `firstTail`. */
const create = Effect.fnUntraced(function* (
  http: Http,
  trial: Trial,
  status: PetStatus.PetStatus,
  firstTail: number
): Effect.fn.Return<void, Failure> {
  for (const [index, content] of contentsOf(status, firstTail).entries()) {
    const animal = yield* createUnlessRejected(http, trial, content)
    if (animal !== undefined) return
    if (index > 0) continue
    // Repeats the most unusual creation, to detect a service that rejects requests at random.
    const again = yield* createUnlessRejected(http, trial, content)
    yield* expect(
      again === undefined,
      "the same result for two creations that differ only in the unique start of the name",
      again === undefined ? "" : `first a rejection, then ${PetJson.line(again)}`,
      "create.returns-created"
    )
  }
})

/** Values of `limit`: pages that end with their first or second animal, and a page with all animals of this check. */
const LIMITS = [1, 2, 100]

const spec = family({ level: "spec", on: "http" })

/** Runs before checks that create other animals, because lists often begin with the oldest ones. */
export const checks: ReadonlyArray<Check> = [
  spec<{ readonly statuses: ReadonlyArray<PetStatus.PetStatus> }>({
    id: "list.positions",
    profile: "core",
    law: "The first and the last animal of a list are shown as created, whatever their content.",
    clauses: ["list.faithful", ...Lists.selectionClauses, "create.returns-created"],
    requests: 17,
    examples: [{ statuses: ["sold", "pending", "available"] }],
    *holds(http, { statuses }, trial) {
      // Makes both the oldest and the newest animal unusual, because a list may begin with either. Only the oldest ones
      // have a long name.
      for (const firstTail of [0, 1]) {
        for (const status of statuses) yield* create(http, trial, status, firstTail)
      }
      const created = http.created()
      for (const status of [undefined, ...statuses]) {
        for (const limit of status === undefined ? LIMITS.slice(0, 2) : LIMITS) {
          const query = `limit=${limit}${Lists.statusParameter(status)}`
          const shown = yield* Lists.list(http, query)
          yield* Lists.expectAgreement(shown, { animals: created, mark: trial.mark }, `?${query}`)
          yield* Lists.expectSelected(shown, status, `?${query}`)
        }
      }
    }
  })
]
