/** Laws about accepted creations and their results (contract §4.2). */
import type * as Effect from "effect/Effect"
import * as fc from "fast-check"
import * as Int64 from "../../../core/domain/Int64.ts"
import * as PetFields from "../../../core/domain/PetFields.ts"
import * as PetStatus from "../../../core/domain/PetStatus.ts"
import { expect, inapplicable, type Violation } from "../../evaluation/Outcome.ts"
import type { Animal } from "../../http/Animal.ts"
import * as PetJson from "../../http/PetJson.ts"
import { header, text } from "../../http/Wire.ts"
import { type Check, family } from "../Check.ts"
import * as Creations from "./Creations.ts"
import * as Responses from "./Responses.ts"

const { create, withCategory, nestedArrays, withMember } = Creations

const spec = family({ level: "spec", profile: "core", on: "http" })
const design = family({ level: "design", profile: "core", on: "http" })

/** Fails unless the animal has the fields in `sent`; a field that is absent there may have any value. */
const expectAsSent = (
  actual: Animal,
  sent: { readonly name: string; readonly categoryId?: bigint; readonly status?: string | undefined }
): Effect.Effect<void, Violation> => {
  const { categoryId = actual.categoryId, name, status } = sent
  return expect(
    actual.name === name &&
      actual.categoryId === categoryId &&
      (status === undefined || actual.status === status),
    `the animal as sent: name ${PetJson.show(name)}, categoryId ${categoryId}, ${status ?? "any status"}`,
    PetJson.line(actual)
  )
}

const plainTail = fc.stringMatching(/^[A-Za-z0-9]{0,12}$/)

const int64 = fc.oneof(
  fc.bigInt({ min: Int64.min, max: Int64.max }),
  fc.bigInt({ min: 2n ** 53n - 3n, max: 2n ** 53n + 3n }),
  fc.bigInt({ min: -5n, max: 5n })
)

/** Generates JSON values, some of them valid for a field. */
const value = fc.oneof(
  fc.json({ maxDepth: 2 }),
  fc.constantFrom(...'1 0 -1 1.5 "5" null true [] {} "sold" "name" 1e400 9223372036854775808'.split(" "))
)

const orAbsent = <A>(arbitrary: fc.Arbitrary<A>) => fc.option(arbitrary, { nil: undefined })

const members = fc.record({
  name: orAbsent(
    fc.oneof({ weight: 3, arbitrary: plainTail.map((tail) => JSON.stringify(`a${tail}`)) }, value)
  ),
  categoryId: orAbsent(fc.oneof({ weight: 3, arbitrary: int64.map(String) }, value)),
  status: orAbsent(fc.oneof(fc.constantFrom(...PetStatus.all.map((one) => `"${one}"`)), value)),
  extra: orAbsent(value)
})

const edit = fc.record({
  at: fc.nat(80),
  removed: fc.nat(3),
  inserted: fc.string({ unit: fc.constantFrom(...'{}[]",:\\0e-. \u0000\ufeff\u{1f408}'), maxLength: 3 })
})

/** Returns the case of an unedited body with these members. */
const unedited = (name: string, categoryId: string, status?: string, extra?: string) => ({
  members: { name, categoryId, status, extra },
  edit: undefined
})

export const checks: ReadonlyArray<Check> = [
  spec({
    id: "create.created",
    law: "A creation gets 201 with the animal: its name, category and status as sent, and a new id.",
    clauses: [
      "create.status-201",
      "create.returns-created",
      "create.id-assigned",
      "create.status-accepted",
      "create.status-kept",
      "create.content-type-accepted",
      "resources.pet-fields",
      "resources.pet-types",
      "resources.status-values"
    ],
    requests: 10,
    examples: [undefined, ...PetStatus.all].map((status) => ({ tail: "", categoryId: 1n, status })),
    cases: fc.record({
      tail: fc.oneof(fc.constant(""), plainTail),
      categoryId: int64,
      status: orAbsent(fc.constantFrom(...PetStatus.all))
    }),
    runs: { port: 20, http: 6 },
    *holds(http, { categoryId, status, tail }, trial) {
      const draft = { name: trial.name(tail), categoryId: Creations.categoryOf(http, categoryId), status }
      const exchange = yield* http.send(Creations.withBody(PetJson.draft(draft)))
      // The contract does not define valid names (§2): only a plain one is certainly accepted.
      if (tail !== "" && exchange.response.status === 400)
        return yield* inapplicable("the service rejects names like these")
      yield* expectAsSent(yield* Responses.petOf(exchange, 201), draft)
    }
  }),
  spec({
    id: "create.unreadable",
    law: "A creation with a truncated or missing body is rejected with 4xx and an Error body.",
    clauses: ["create.json-syntax", "create.body-required", "errors.no-5xx"],
    requests: 18,
    examples: [
      ...["", " ", "{", "}", '"', "nonsense", '{"name"'],
      ...['{"name":"$name","categoryId":12', '{"name":"$name","categoryId":', undefined]
    ],
    cases: fc.nat(48).map((length) => '{"name":"a name","categoryId":123,"status":"sold"}'.slice(0, length)),
    runs: { port: 30, http: 8 },
    holds: (http, template, trial) => {
      const { body, ...bare } = Creations.request(http, trial, template ?? "")
      return Responses.sendInvalid(http, template === undefined ? bare : { ...bare, body: body ?? "" }, {
        status: "4xx"
      })
    }
  }),
  spec({
    id: "create.integers",
    law: "An integer written as 1.0 or 1e3 is read as its exact value, or rejected with 400.",
    clauses: ["create.category-type", "create.int64-exact"],
    requests: 6,
    examples: [
      { source: "1.0", integer: 1n },
      { source: "1e3", integer: 1_000n },
      { source: "20e-1", integer: 2n },
      { source: "-0", integer: 0n },
      { source: "9223372036854775807.0", integer: Int64.max },
      { source: "9007199254740993e0", integer: 2n ** 53n + 1n }
    ],
    *holds(http, { integer, source }, trial) {
      const exchange = yield* http.send(Creations.request(http, trial, withCategory(source)))
      if (exchange.response.status === 400) return
      const { categoryId } = yield* Responses.petOf(exchange, 201)
      yield* expect(categoryId === integer, `categoryId ${integer} for ${source}, or 400`, String(categoryId))
    }
  }),
  spec({
    id: "create.own-id",
    law: "The service assigns the id of a new animal, whatever id the client sends.",
    clauses: ["create.id-assigned", "resources.id-unique"],
    requests: 5,
    examples: [{ id: undefined }, { id: 7_310_452_986_017_342n }],
    cases: fc.record({ id: fc.bigInt({ min: 2n ** 40n, max: 2n ** 50n }) }),
    runs: { port: 10, http: 2 },
    *holds(http, { id }, trial) {
      const usedId = id ?? (yield* create(http, Creations.fill(Creations.PLAIN, http, trial))).id
      const exchange = yield* http.send(Creations.request(http, trial, withMember(`"id":${usedId}`)))
      if (exchange.response.status === 400) return
      const animal = yield* Responses.petOf(exchange, 201)
      yield* expect(
        animal.id !== usedId,
        `an id that the service assigned${id === undefined ? ", not that of another animal" : ""}`,
        `the id ${usedId} that was sent`
      )
    }
  }),
  spec({
    id: "create.twice",
    law: "Two creations with the same body that both get 201 create two animals with different ids.",
    clauses: ["resources.id-unique", "create.id-assigned"],
    requests: 2,
    examples: [{ status: "sold" as const }],
    *holds(http, { status }, trial) {
      const body = PetJson.draft({ name: trial.name(), categoryId: Creations.categoryOf(http), status })
      const first = yield* create(http, body)
      const again = yield* http.send(Creations.withBody(body))
      // The contract does not define whether names are unique (§2): a second animal with the same name may be rejected.
      if (again.response.status !== 201) {
        yield* Responses.expectRejection(again, { status: "4xx" })
        return yield* inapplicable("the service rejects a second animal of the same name")
      }
      const second = yield* Responses.petOf(again, 201)
      yield* expect(
        first.id !== second.id,
        "another id for the second animal with the same body",
        `the id ${first.id} twice`
      )
    }
  }),
  spec({
    id: "create.any-body",
    law: "Whatever the body, the response is 201 with the animal as sent, or 4xx with an Error body.",
    clauses: ["errors.no-5xx", "errors.body", "create.returns-created", "create.int64-exact"],
    requests: 34,
    examples: [
      unedited('"abc"', "9007199254740993", '"sold"'),
      unedited('"a\\ud83d"', "1"),
      unedited('"a\\u0000b"', "1"),
      unedited('"a"', "1", '"sold"', nestedArrays(60))
    ],
    cases: fc.record({ members, edit: orAbsent(edit) }),
    runs: { port: 100, http: 30 },
    *holds(http, { edit: cut, members: { categoryId, extra, name, status } }, trial) {
      const parts = Object.entries({ name, categoryId, status, [trial.token]: extra }).flatMap(
        ([member, json]) => (json === undefined ? [] : [`"${member}":${json}`])
      )
      const body = `{${parts.join(",")}}`
      const sent =
        cut === undefined ? body : body.slice(0, cut.at) + cut.inserted + body.slice(cut.at + cut.removed)
      const exchange = yield* http.send(Creations.withBody(sent))
      if (exchange.response.status !== 201) {
        yield* Responses.expectRejection(exchange, { status: "4xx" })
        return
      }
      const animal = yield* Responses.petOf(exchange, 201)
      // The meaning is certain only if the body is unedited and the name is plain.
      const plainName = /^"([A-Za-z0-9]+)"$/.exec(name ?? "")?.[1]
      if (cut !== undefined || plainName === undefined) return
      yield* expectAsSent(animal, {
        name: plainName,
        ...(/^(?:0|-?[1-9][0-9]*)$/.test(categoryId ?? "") ? { categoryId: BigInt(categoryId ?? "") } : {}),
        status: /^"(available|pending|sold)"$/.exec(status ?? "")?.[1]
      })
    }
  }),

  // Decisions on points that the contract leaves open.
  design({
    id: "create.longest-name",
    law: "A name of 255 code points is accepted, even if each takes two UTF-16 units.",
    clauses: ["create.name-length"],
    requests: 3,
    examples: ["a", "\u{1f408}", "\u05d0"],
    *holds(http, character) {
      const name = character.repeat(255)
      const body = PetJson.draft({ name, categoryId: Creations.categoryOf(http), status: undefined })
      yield* expectAsSent(yield* create(http, body), { name })
    }
  }),
  design({
    id: "create.same-name",
    law: "Several animals may have the same name.",
    clauses: ["create.name-not-unique"],
    requests: 2,
    examples: [undefined],
    *holds(http, _, trial) {
      const body = Creations.fill(Creations.PLAIN, http, trial)
      const first = yield* create(http, body)
      const second = yield* create(http, body)
      yield* expect(first.id !== second.id, "two animals with the same name", `the id ${first.id} twice`)
    }
  }),
  design({
    id: "create.by-value",
    law: "A category written as 1.0 or 1e3 is accepted by its value.",
    clauses: ["create.category-by-value", "create.category-any"],
    needs: ["anyCategory"],
    requests: 5,
    examples: [
      { source: "1.0", integer: 1n },
      { source: "1e3", integer: 1_000n },
      { source: "1200E-2", integer: 12n },
      { source: "0.00e5", integer: 0n },
      { source: "-92233720368547758.08e2", integer: Int64.min }
    ],
    *holds(http, { integer, source }, trial) {
      const { categoryId } = yield* create(http, Creations.fill(withCategory(source), http, trial))
      yield* expect(categoryId === integer, `categoryId ${integer}`, String(categoryId))
    }
  }),
  design({
    id: "create.default-status",
    law: "An animal created without a status is available.",
    clauses: ["create.status-default"],
    requests: 1,
    examples: [undefined],
    *holds(http, _, trial) {
      const { status } = yield* create(http, Creations.fill(Creations.PLAIN, http, trial))
      yield* expect(status === "available", "the status available", PetJson.show(status))
    }
  }),
  design({
    id: "create.unknown-members",
    law: "Members that the contract does not name, including an id, are ignored and not returned.",
    clauses: ["create.unknown-fields", "create.id-ignored"],
    requests: 5,
    examples: [
      '"colour":"red"',
      '"id":1',
      '"id":"x"',
      '"__proto__":{"status":"sold"}',
      `"a":${nestedArrays(31)}`
    ],
    *holds(http, member, trial) {
      const exchange = yield* http.send(Creations.request(http, trial, withMember(member)))
      yield* Responses.petOf(exchange, 201)
      const shown = Object.keys(JSON.parse(text(exchange.response.body)) as object) // it is a Pet
      yield* expect(
        shown.toSorted().join() === ["id", ...PetFields.everPresent].toSorted().join(),
        `only the members ${["id", ...PetFields.everPresent].join(", ")}`,
        shown.join(", ")
      )
    }
  }),
  design({
    id: "create.content-type-forms",
    law: "The content type may be in any letter case and may have the charset UTF-8.",
    clauses: ["create.content-type-form"],
    requests: 5,
    examples: [
      "application/json",
      "Application/JSON",
      "application/json; charset=utf-8",
      "application/json;charset=UTF-8",
      'application/json ; charset="utf-8"'
    ],
    *holds(http, type, trial) {
      const body = Creations.fill(Creations.PLAIN, http, trial)
      yield* Responses.petOf(yield* http.send(Creations.withHeaders([["Content-Type", type]], body)), 201)
    }
  }),
  design({
    id: "create.large",
    law: "A body of 64 KiB is accepted.",
    clauses: ["create.body-size-accepted"],
    requests: 2,
    examples: [" ", "\u{1f408}"],
    *holds(http, padding, trial) {
      const sent = Creations.withPadding(http, trial, Creations.MAX_BODY_BYTES, padding)
      yield* Responses.petOf(yield* http.send(sent), 201)
    }
  }),
  design({
    id: "create.address",
    law: "A 201 has the address of the new animal in Location until getPet is removed, and no Location afterwards.",
    clauses: ["create.location"],
    requests: 1,
    examples: [undefined],
    *holds(http, _, trial) {
      const exchange = yield* http.send(Creations.request(http, trial))
      const { id } = yield* Responses.petOf(exchange, 201)
      const wanted = `${http.facts.basePath}/pets/${id}`
      const location = header(exchange.response, "location")
      const isRemoved = exchange.receivedAt >= Date.UTC(2030, 11, 5)
      yield* isRemoved
        ? expect(location === undefined, "no Location", String(location))
        : expect(location?.endsWith(wanted) === true, `Location: ${wanted}`, location ?? "no Location")
    }
  })
]
