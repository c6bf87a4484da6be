/** Laws about rejected creations, which must add no animal (contract §4.2). */
import * as Effect from "effect/Effect"
import type { Http, Sent } from "../../evaluation/Http.ts"
import { expect, undecided } from "../../evaluation/Outcome.ts"
import type { Trial } from "../../evaluation/Trial.ts"
import * as PetJson from "../../http/PetJson.ts"
import { text } from "../../http/Wire.ts"
import { type Check, family } from "../Check.ts"
import * as Creations from "./Creations.ts"
import * as Responses from "./Responses.ts"

const { withMember, withStatus } = Creations

const unstored = family({ level: "spec", profile: "core", on: "http" })

const SOLD = '"status":"sold"'

const ROOM = "a list that is not full"

/**
 * Fails if one of the names is listed. Fails with `Undecided` if a list cannot be read, or if every list is full: a full
 * list need not show each animal.
 */
const expectNoneListed = Effect.fnUntraced(function* (
  http: Http,
  names: ReadonlyArray<string>,
  trial: Trial
) {
  let hasRoom = false
  for (const path of ["/pets?limit=100&status=sold", "/pets?limit=100"]) {
    const exchange = yield* http.send({ path })
    const listed = PetJson.parse(text(exchange.response.body))
    const animals = listed._tag === "Success" && Array.isArray(listed.success) ? listed.success : undefined
    if (animals === undefined) return yield* undecided("no list could be read")
    const found = animals.find((animal: { readonly name?: unknown }) =>
      names.some((name) => name === animal?.name)
    )
    yield* expect(found === undefined, "no animal of a rejected creation in a list", PetJson.show(found))
    hasRoom ||= animals.length < 100
  }
  if (!hasRoom) return yield* undecided("the lists are full: use a store with fewer animals")
  trial.saw(ROOM)
})

/** Sends each body with a new name, and fails if an animal of a rejected creation is listed. */
const expectNoneStored = Effect.fnUntraced(function* (
  http: Http,
  bodies: ReadonlyArray<string>,
  send: (sent: Sent) => ReturnType<Http["send"]>,
  trial: Trial
) {
  const names: Array<string> = []
  for (const body of bodies) {
    const name = trial.name()
    const exchange = yield* send(Creations.request(http, trial, body.replace("$name", name)))
    if (exchange.response.status >= 400) names.push(name)
  }
  yield* expectNoneListed(http, names, trial)
})

export const checks: ReadonlyArray<Check> = [
  unstored({
    id: "create.refused-stores-nothing",
    needsOneOf: ["room for the first checks"],
    law: "A creation that is rejected adds no animal.",
    clauses: ["create.refused-unstored"],
    requests: 9,
    mustSee: [ROOM],
    examples: [
      [
        `{"name":"$name",${SOLD}}`,
        ...['"1"', "1.5", "9223372036854775808"].map((id) => `{"name":"$name","categoryId":${id},${SOLD}}`),
        withStatus('"unknown"'),
        withStatus("7"),
        `{"name":"$name","categoryId":$category,${SOLD}`
      ]
    ],
    holds: (http, bodies, trial) => expectNoneStored(http, bodies, http.send, trial)
  }),
  unstored({
    id: "create.unauthorized-stores-nothing",
    needsOneOf: ["room for the first checks"],
    law: "A creation that is rejected with 401 adds no animal.",
    clauses: ["auth.refused-unstored"],
    requests: 6,
    mustSee: [ROOM],
    examples: [{ authorization: [] }, { authorization: ["Bearer no-such-key"] }],
    holds: (http, { authorization }, trial) =>
      expectNoneStored(
        http,
        [withMember(SOLD)],
        (sent) => Responses.sendWithoutKey(http, { ...sent, authorization }),
        trial
      )
  })
]
