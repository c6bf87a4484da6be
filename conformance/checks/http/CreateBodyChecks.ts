/** What creations accept, refuse and answer (contract §4.2). */
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import * as Int64 from "../../../core/domain/Int64.ts"
import * as PetStatus from "../../../core/domain/PetStatus.ts"
import type { Level } from "../../clauses/Clause.ts"
import type { ClauseSlug } from "../../clauses/Clauses.ts"
import { expect, type Failure, inapplicable, undecided, type Violation } from "../../engine/Outcome.ts"
import type { Trial } from "../../engine/Trial.ts"
import * as PetJson from "../../http/PetJson.ts"
import { bytes, type Header, header, text } from "../../http/Wire.ts"
import type { Animal } from "../Catalogue.ts"
import { type Check, define } from "../Check.ts"
import type { Http, Sent } from "../Http.ts"
import * as Answers from "./Answers.ts"

interface Table {
  readonly id: string
  readonly law: string
  readonly clauses: readonly [ClauseSlug, ...ReadonlyArray<ClauseSlug>]
  readonly level: Level
  /** Templates of bodies, or bodies to the byte. */
  readonly bodies: ReadonlyArray<string | Uint8Array>
  readonly timeoutMs?: number
}

/** A law that says of a table of bodies that each is refused. */
const refuses = ({ bodies, refusal, ...table }: Table & { readonly refusal: Answers.Refusal }): Check =>
  define({
    ...table,
    profile: "core",
    on: "http",
    requests: bodies.length,
    examples: bodies,
    holds: (http, body, trial) =>
      Effect.gen(function* () {
        const content = typeof body === "string" ? Answers.filled(body, http, trial) : body
        yield* Answers.refused(yield* http.send(Answers.creation(content)), refusal)
      })
  })

const invalidValue = { status: [400] }
const invalidBody = { status: [400], code: "invalid_body" }
const invalidJson = { status: [400], code: "invalid_json" }

/** With this text as the value of `name`. */
const named = (value: string): string => `{"name":${value},"categoryId":$category}`
/** With this text as the value of `categoryId`. */
const inCategory = (value: string): string => `{"name":"$name","categoryId":${value}}`
/** With this text as the value of `status`. */
const withStatus = (value: string): string => `{"name":"$name","categoryId":$category,"status":${value}}`
/** With a member that the contract does not name. */
const withMore = (member: string): string => `{"name":"$name","categoryId":$category,${member}}`

const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels)

/** Fails unless the animal has the fields that were sent. */
const isAsSent = (
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

const create = (http: Http, body: string): Effect.Effect<Animal, Failure> =>
  Effect.flatMap(http.send(Answers.creation(body)), (exchange) => Answers.pet(exchange, 201))

/** Fails when one of the names is listed; `Undecided` when the list is full and would not tell. */
const noneListed = Effect.fnUntraced(function* (
  http: Http,
  names: ReadonlyArray<string>,
  trial: Trial
): Effect.fn.Return<void, Failure> {
  let hasRoom = false
  for (const path of ["/pets?limit=100&status=sold", "/pets?limit=100"]) {
    const exchange = yield* http.send({ path })
    const listed = PetJson.parse(text(exchange.response.body))
    const animals = listed._tag === "Success" && Array.isArray(listed.success) ? listed.success : undefined
    if (animals === undefined) return yield* undecided("no list to look into")
    const found = animals.find((animal: { readonly name?: unknown }) =>
      names.some((name) => name === animal?.name)
    )
    yield* expect(found === undefined, "no animal of a refused creation in a list", PetJson.show(found))
    hasRoom ||= animals.length < 100
  }
  if (!hasRoom) return yield* undecided("the lists are full: a store with fewer animals would tell")
  trial.saw(ROOM)
})

const ROOM = "a list with room for more"

/** Sends each body under a name of its own, and looks whether one of those that were refused is listed. */
const storesNone = Effect.fnUntraced(function* (
  http: Http,
  bodies: ReadonlyArray<string>,
  send: (sent: Sent) => ReturnType<Http["send"]>,
  trial: Trial
): Effect.fn.Return<void, Failure> {
  const names: Array<string> = []
  for (const body of bodies) {
    const name = trial.name()
    const exchange = yield* send(Answers.creation(Answers.filled(body.replace("$name", name), http, trial)))
    if (exchange.response.status >= 400) names.push(name)
  }
  yield* noneListed(http, names, trial)
})

const sold = '"status":"sold"'

const plainTail = fc.stringMatching(/^[A-Za-z0-9]{0,12}$/)

const int64 = fc.oneof(
  fc.bigInt({ min: Int64.min, max: Int64.max }),
  fc.bigInt({ min: 2n ** 53n - 3n, max: 2n ** 53n + 3n }),
  fc.bigInt({ min: -5n, max: 5n })
)

/** Values as texts of JSON, right and wrong ones. */
const value = fc.oneof(
  fc.json({ maxDepth: 2 }),
  fc.constantFrom(
    "1",
    "0",
    "-1",
    "1.5",
    '"5"',
    "null",
    "true",
    "[]",
    "{}",
    '"sold"',
    '"name"',
    "1e400",
    "9223372036854775808"
  )
)

const members = fc.record({
  name: fc.option(
    fc.oneof({ weight: 3, arbitrary: plainTail.map((tail) => JSON.stringify(`a${tail}`)) }, value),
    {
      nil: undefined
    }
  ),
  categoryId: fc.option(fc.oneof({ weight: 3, arbitrary: int64.map(String) }, value), { nil: undefined }),
  status: fc.option(fc.oneof(fc.constantFrom(...PetStatus.all.map((one) => `"${one}"`)), value), {
    nil: undefined
  }),
  more: fc.option(value, { nil: undefined })
})

const edit = fc.record({
  at: fc.nat(80),
  removed: fc.nat(3),
  inserted: fc.string({ unit: fc.constantFrom(...'{}[]",:\\0e-. \u0000\ufeff\u{1f408}'), maxLength: 3 })
})

/** Accepted only by a subject that announces the type as JSON. */
const asType = (headers: ReadonlyArray<Header>, body: string): Sent => ({
  method: "POST",
  path: "/pets",
  headers,
  body
})

const utf16 = (content: string): Uint8Array => {
  const units = new Uint8Array(2 + 2 * content.length)
  units.set([0xff, 0xfe])
  for (let index = 0; index < content.length; index++) {
    units[2 + 2 * index] = content.charCodeAt(index) & 0xff
    units[3 + 2 * index] = content.charCodeAt(index) >> 8
  }
  return units
}

/** The body with raw bytes within its name. */
const rawName = (...raw: ReadonlyArray<number>): Uint8Array =>
  Uint8Array.from([...bytes('{"name":"a'), ...raw, ...bytes('","categoryId":1}')])

/** A body of so many bytes: space that means nothing, or many bytes in few characters. */
const padded = (body: string, size: number, padding: string): string => {
  const open = `${body.slice(0, -1)},"padding":"`
  const room = size - bytes(open).length - 2
  const width = bytes(padding).length
  return `${open}${padding.repeat(Math.floor(room / width))}${"x".repeat(room % width)}"}`
}

const LARGEST = 65_536

export const checks: ReadonlyArray<Check> = [
  define({
    id: "create.refused-stores-nothing",
    law: "A creation that is refused adds no animal.",
    clauses: ["create.refused-unstored"],
    level: "spec",
    profile: "core",
    on: "http",
    requests: 9,
    mustSee: [ROOM],
    examples: [
      [
        `{"name":"$name",${sold}}`,
        `{"name":"$name","categoryId":"1",${sold}}`,
        `{"name":"$name","categoryId":1.5,${sold}}`,
        `{"name":"$name","categoryId":9223372036854775808,${sold}}`,
        withStatus('"unknown"'),
        withStatus("7"),
        `{"name":"$name","categoryId":$category,${sold}`
      ]
    ],
    holds: (http, bodies, trial) => storesNone(http, bodies, http.send, trial)
  }),
  define({
    id: "create.unauthorized-stores-nothing",
    law: "A creation that is refused with 401 adds no animal.",
    clauses: ["auth.refused-unstored"],
    level: "spec",
    profile: "core",
    on: "http",
    requests: 4,
    mustSee: [ROOM],
    examples: [{ authorization: [] }, { authorization: ["Bearer no-such-key"] }],
    holds: (http, { authorization }, trial) =>
      storesNone(
        http,
        [withStatus('"sold"')],
        (sent) => Answers.sendUnknown(http, { ...sent, authorization }),
        trial
      )
  }),
  define({
    id: "create.created",
    law: "A creation answers 201 with the animal: its name, category and status as sent, and a new id.",
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
    level: "spec",
    profile: "core",
    on: "http",
    requests: 10,
    examples: [undefined, ...PetStatus.all].map((status) => ({ tail: "", categoryId: 1n, status })),
    cases: fc.record({
      tail: fc.oneof(fc.constant(""), plainTail),
      categoryId: int64,
      status: fc.option(fc.constantFrom(...PetStatus.all), { nil: undefined })
    }),
    runs: { port: 20, http: 6 },
    holds: (http, { categoryId, status, tail }, trial) =>
      Effect.gen(function* () {
        const draft = { name: trial.name(tail), categoryId: Answers.categoryOf(http, categoryId), status }
        const exchange = yield* http.send(Answers.creation(PetJson.draft(draft)))
        // The contract does not show what a name may be (§2): only a plain one is sure to be accepted.
        if (tail !== "" && exchange.response.status === 400)
          return yield* inapplicable("the service refuses names like these")
        yield* isAsSent(yield* Answers.pet(exchange, 201), draft)
      })
  }),
  refuses({
    id: "create.required",
    law: "A creation without name or category answers 400.",
    clauses: ["create.name-required", "create.category-required", "errors.listed-statuses"],
    level: "spec",
    bodies: ['{"categoryId":$category}', '{"name":"$name"}', "{}", '{"status":"sold"}'],
    refusal: invalidValue
  }),
  refuses({
    id: "create.types",
    law: "A creation whose name is no string or whose category is no integer answers 400.",
    clauses: ["create.name-type", "create.category-type"],
    level: "spec",
    bodies: [
      ...["5", "null", "true", '["a"]', '{"a":1}'].map(named),
      ...['"5"', "1.5", "-0.1", "5e-1", "true", "false", "null", "[5]", "{}", '""'].map(inCategory)
    ],
    refusal: invalidValue
  }),
  refuses({
    id: "create.range",
    law: "A creation whose category lies outside int64 answers 400.",
    clauses: ["create.category-range"],
    level: "spec",
    bodies: [
      "9223372036854775808",
      "-9223372036854775809",
      "18446744073709551617",
      "-18446744073709551617",
      "36893488147419103233",
      "1e19",
      "1e999999999"
    ].map(inCategory),
    refusal: invalidValue
  }),
  refuses({
    id: "create.status-values",
    law: "A creation whose status is none of the three answers 400.",
    clauses: ["create.status-enum"],
    level: "spec",
    bodies: ['"unknown"', '"AVAILABLE"', '"sold out"', '""', "0", "1", "true", '["sold"]', "{}"].map(
      withStatus
    ),
    refusal: invalidValue
  }),
  refuses({
    id: "create.object",
    law: "A creation whose body is JSON but no object answers 400.",
    clauses: ["create.body-object"],
    level: "spec",
    bodies: ["null", "true", "1", '"name"', "[]"],
    refusal: invalidValue
  }),
  define({
    id: "create.unreadable",
    law: "A creation whose body breaks off, or is missing, answers 4xx with an Error body.",
    clauses: ["create.json-syntax", "create.body-required", "errors.no-5xx"],
    level: "spec",
    profile: "core",
    on: "http",
    requests: 20,
    examples: [
      "",
      " ",
      "{",
      "}",
      '"',
      "nonsense",
      '{"name"',
      '{"name":"$name","categoryId":12',
      '{"name":"$name","categoryId":',
      undefined
    ],
    cases: fc.nat(48).map((length) => '{"name":"a name","categoryId":123,"status":"sold"}'.slice(0, length)),
    runs: { port: 30, http: 8 },
    holds: (http, body, trial) =>
      Effect.gen(function* () {
        const sent: Sent =
          body === undefined
            ? { method: "POST", path: "/pets", headers: [["Content-Type", "application/json"]] }
            : Answers.creation(Answers.filled(body, http, trial))
        yield* Answers.refused(yield* http.send(sent), { status: "4xx" })
      })
  }),
  define({
    id: "create.deep-nesting",
    law: "A body of countless nested brackets that never close answers 4xx, and soon.",
    clauses: ["create.json-syntax", "errors.no-5xx"],
    level: "spec",
    profile: "core",
    on: "http",
    requests: 3,
    timeoutMs: 10_000,
    examples: [
      { open: "[", levels: 60_000 },
      { open: '{"a":', levels: 12_000 },
      { open: "[", levels: 100_000 }
    ],
    holds: (http, { levels, open }) =>
      Effect.gen(function* () {
        const body = `{"name":"a","categoryId":1,"deep":${open.repeat(levels)}`
        yield* Answers.refused(yield* http.send(Answers.creation(body)), { status: "4xx" })
      })
  }),
  define({
    id: "create.integers",
    law: "An integer written as 1.0 or 1e3 is taken for its exact value, or refused with 400.",
    clauses: ["create.category-type", "create.int64-exact"],
    level: "spec",
    profile: "core",
    on: "http",
    requests: 6,
    examples: [
      { source: "1.0", integer: 1n },
      { source: "1e3", integer: 1_000n },
      { source: "20e-1", integer: 2n },
      { source: "-0", integer: 0n },
      { source: "9223372036854775807.0", integer: Int64.max },
      { source: "9007199254740993e0", integer: 2n ** 53n + 1n }
    ],
    holds: (http, { integer, source }, trial) =>
      Effect.gen(function* () {
        const exchange = yield* http.send(Answers.creation(Answers.filled(inCategory(source), http, trial)))
        if (exchange.response.status === 400) return
        const { categoryId } = yield* Answers.pet(exchange, 201)
        yield* expect(
          categoryId === integer,
          `categoryId ${integer} for ${source}, or 400`,
          String(categoryId)
        )
      })
  }),
  define({
    id: "create.own-id",
    law: "The service assigns the id of a new animal, whatever id the client sends.",
    clauses: ["create.id-assigned", "resources.id-unique"],
    level: "spec",
    profile: "core",
    on: "http",
    requests: 5,
    examples: [{ id: undefined }, { id: 7_310_452_986_017_342n }],
    cases: fc.record({ id: fc.bigInt({ min: 2n ** 40n, max: 2n ** 50n }) }),
    runs: { port: 10, http: 2 },
    holds: (http, { id }, trial) =>
      Effect.gen(function* () {
        const taken = id ?? (yield* create(http, Answers.filled(Answers.plain, http, trial))).id
        const exchange = yield* http.send(
          Answers.creation(Answers.filled(withMore(`"id":${taken}`), http, trial))
        )
        if (exchange.response.status === 400) return
        const animal = yield* Answers.pet(exchange, 201)
        yield* expect(
          animal.id !== taken,
          `an id that the service assigned${id === undefined ? ", not that of another animal" : ""}`,
          `the id ${taken} that was sent`
        )
      })
  }),
  define({
    id: "create.twice",
    law: "Two creations of one body, both answered with 201, make two animals with an id each.",
    clauses: ["resources.id-unique", "create.id-assigned"],
    level: "spec",
    profile: "core",
    on: "http",
    requests: 2,
    examples: [{ status: "sold" as const }],
    holds: (http, { status }, trial) =>
      Effect.gen(function* () {
        const draft = { name: trial.name(), categoryId: Answers.categoryOf(http), status }
        const first = yield* create(http, PetJson.draft(draft))
        const again = yield* http.send(Answers.creation(PetJson.draft(draft)))
        // The contract does not show whether names are unique (§2): a second of one name may be refused.
        if (again.response.status !== 201) {
          yield* Answers.refused(again, { status: "4xx" })
          return yield* inapplicable("the service refuses a second animal of the same name")
        }
        const second = yield* Answers.pet(again, 201)
        yield* expect(
          first.id !== second.id,
          "another id for the second animal of one body",
          `the id ${first.id} twice`
        )
      })
  }),
  define({
    id: "create.any-body",
    law: "Whatever the body, the answer is 201 with the animal as sent, or 4xx with an Error body.",
    clauses: ["errors.no-5xx", "errors.body", "create.returns-created", "create.int64-exact"],
    level: "spec",
    profile: "core",
    on: "http",
    requests: 30,
    examples: [
      {
        members: { name: '"abc"', categoryId: "9007199254740993", status: '"sold"', more: undefined },
        edit: undefined
      },
      {
        members: { name: '"a\\ud83d"', categoryId: "1", status: undefined, more: undefined },
        edit: undefined
      },
      {
        members: { name: '"a\\u0000b"', categoryId: "1", status: undefined, more: undefined },
        edit: undefined
      },
      { members: { name: '"a"', categoryId: "1", status: '"sold"', more: nested(60) }, edit: undefined }
    ],
    cases: fc.record({ members, edit: fc.option(edit, { nil: undefined }) }),
    runs: { port: 100, http: 30 },
    holds: (http, given, trial) =>
      Effect.gen(function* () {
        const { categoryId, more, name: nameText, status } = given.members
        const parts = [
          ...(nameText === undefined ? [] : [`"name":${nameText}`]),
          ...(categoryId === undefined ? [] : [`"categoryId":${categoryId}`]),
          ...(status === undefined ? [] : [`"status":${status}`]),
          ...(more === undefined ? [] : [`"${trial.token}":${more}`])
        ]
        const body = `{${parts.join(",")}}`
        const { edit: cut } = given
        const sent =
          cut === undefined ? body : body.slice(0, cut.at) + cut.inserted + body.slice(cut.at + cut.removed)
        const exchange = yield* http.send(Answers.creation(sent))
        if (exchange.response.status !== 201) {
          yield* Answers.refused(exchange, { status: "4xx" })
          return
        }
        const animal = yield* Answers.pet(exchange, 201)
        // Only of what was sent without cuts and in plain letters is it certain what it means.
        const plainName = /^"([A-Za-z0-9]+)"$/.exec(nameText ?? "")?.[1]
        if (cut !== undefined || plainName === undefined) return
        yield* isAsSent(animal, {
          name: plainName,
          ...(/^(?:0|-?[1-9][0-9]*)$/.test(categoryId ?? "") ? { categoryId: BigInt(categoryId ?? "") } : {}),
          status: /^"(available|pending|sold)"$/.exec(status ?? "")?.[1]
        })
      })
  }),

  // Our answers to the contract's gaps.
  define({
    id: "create.longest-name",
    law: "A name of 255 code points is accepted, also where each takes two UTF-16 units.",
    clauses: ["create.name-length"],
    level: "design",
    profile: "core",
    on: "http",
    requests: 3,
    examples: ["a", "\u{1f408}", "\u05d0"],
    holds: (http, character) =>
      Effect.gen(function* () {
        const content = character.repeat(255)
        yield* isAsSent(
          yield* create(
            http,
            PetJson.draft({ name: content, categoryId: Answers.categoryOf(http), status: undefined })
          ),
          {
            name: content
          }
        )
      })
  }),
  refuses({
    id: "create.name-limits",
    law: "An empty name and one of more than 255 code points answer 400.",
    clauses: ["create.name-length"],
    level: "design",
    bodies: [named('""'), named(`"${"a".repeat(256)}"`), named(`"${"\u{1f408}".repeat(256)}"`)],
    refusal: invalidBody
  }),
  refuses({
    id: "create.blank-name",
    law: "A name of nothing but white space answers 400.",
    clauses: ["create.name-blank"],
    level: "design",
    bodies: ['" "', '"\\t\\r\\n"', '"\u00a0\u3000\u2028"'].map(named),
    refusal: invalidBody
  }),
  refuses({
    id: "create.impossible-characters",
    law: "A name with U+0000 or a lone surrogate answers 400.",
    clauses: ["create.name-characters"],
    level: "design",
    bodies: ['"\\u0000"', '"a\\u0000b"', '"a\\ud83d"', '"\\udc08a"', '"\\udc08\\ud83d"'].map(named),
    refusal: invalidBody
  }),
  define({
    id: "create.same-name",
    law: "Several animals may have the same name.",
    clauses: ["create.name-not-unique"],
    level: "design",
    profile: "core",
    on: "http",
    requests: 2,
    examples: [undefined],
    holds: (http, _, trial) =>
      Effect.gen(function* () {
        const body = Answers.filled(Answers.plain, http, trial)
        const first = yield* create(http, body)
        const second = yield* create(http, body)
        yield* expect(first.id !== second.id, "two animals of one name", `the id ${first.id} twice`)
      })
  }),
  define({
    id: "create.by-value",
    law: "A category written as 1.0 or 1e3 is accepted by its value.",
    clauses: ["create.category-by-value", "create.category-any"],
    level: "design",
    profile: "core",
    on: "http",
    needs: ["anyCategory"],
    requests: 5,
    examples: [
      { source: "1.0", integer: 1n },
      { source: "1e3", integer: 1_000n },
      { source: "1200E-2", integer: 12n },
      { source: "0.00e5", integer: 0n },
      { source: "-92233720368547758.08e2", integer: Int64.min }
    ],
    holds: (http, { integer, source }, trial) =>
      Effect.gen(function* () {
        const { categoryId } = yield* create(http, Answers.filled(inCategory(source), http, trial))
        yield* expect(categoryId === integer, `categoryId ${integer}`, String(categoryId))
      })
  }),
  refuses({
    id: "create.huge-number",
    law: "A number with a huge exponent answers 400 at once.",
    clauses: ["create.number-cost"],
    level: "design",
    timeoutMs: 3_000,
    bodies: [
      "1e999999999",
      "-1e999999999",
      "1e-999999999",
      `1e${"9".repeat(1_000)}`,
      `0.${"0".repeat(50_000)}1`
    ].map(inCategory),
    refusal: invalidBody
  }),
  define({
    id: "create.default-status",
    law: "An animal created without a status is available.",
    clauses: ["create.status-default"],
    level: "design",
    profile: "core",
    on: "http",
    requests: 1,
    examples: [undefined],
    holds: (http, _, trial) =>
      Effect.gen(function* () {
        const { status } = yield* create(http, Answers.filled(Answers.plain, http, trial))
        yield* expect(status === "available", "the status available", PetJson.show(status))
      })
  }),
  refuses({
    id: "create.null-status",
    law: "A creation whose status is null answers 400.",
    clauses: ["create.status-null"],
    level: "design",
    bodies: [withStatus("null")],
    refusal: invalidBody
  }),
  define({
    id: "create.unknown-members",
    law: "Members that the contract does not name are ignored and not shown, an id among them.",
    clauses: ["create.unknown-fields", "create.id-ignored"],
    level: "design",
    profile: "core",
    on: "http",
    requests: 5,
    examples: ['"colour":"red"', '"id":1', '"id":"x"', '"__proto__":{"status":"sold"}', `"a":${nested(31)}`],
    holds: (http, member, trial) =>
      Effect.gen(function* () {
        const exchange = yield* http.send(Answers.creation(Answers.filled(withMore(member), http, trial)))
        yield* Answers.pet(exchange, 201)
        const shown = Object.keys(JSON.parse(text(exchange.response.body)) as object) // it is a Pet
        yield* expect(
          shown.toSorted().join() === "categoryId,id,name,status",
          "the members id, name, categoryId and status alone",
          shown.join(", ")
        )
      })
  }),
  refuses({
    id: "create.codes-of-content",
    law: "A body that is JSON but no new animal answers 400 invalid_body.",
    clauses: ["create.codes"],
    level: "design",
    bodies: [
      "{}",
      "null",
      "[]",
      '[{"name":"$name","categoryId":1}]',
      named("5"),
      inCategory('"5"'),
      withStatus('"x"')
    ],
    refusal: invalidBody
  }),
  refuses({
    id: "create.codes-of-syntax",
    law: "A body that is no JSON answers 400 invalid_json.",
    clauses: ["create.codes", "create.json-syntax", "create.body-required"],
    level: "design",
    bodies: [
      "",
      "{",
      "nonsense",
      "{'name':1}",
      '{"name":"$name","categoryId":01}',
      '{"name":"a\nb","categoryId":1}'
    ],
    refusal: invalidJson
  }),
  refuses({
    id: "create.trailing-text",
    law: "A body with text after its JSON value answers 400.",
    clauses: ["create.json-strict"],
    level: "design",
    bodies: [
      `${Answers.plain}x`,
      `${Answers.plain}{}`,
      `${Answers.plain},`,
      `${Answers.plain}\u0000`,
      `${Answers.plain}//`
    ],
    refusal: invalidJson
  }),
  refuses({
    id: "create.duplicate-names",
    law: "A body that gives a name twice within an object answers 400.",
    clauses: ["create.json-duplicates"],
    level: "design",
    bodies: [withMore('"name":"a"'), withMore('"n\\u0061me":"a"'), withMore('"a":{"b":1,"b":1}')],
    refusal: invalidJson
  }),
  refuses({
    id: "create.too-deep",
    law: "A body nested more than 32 levels deep answers 400.",
    clauses: ["create.json-depth"],
    level: "design",
    bodies: [withMore(`"a":${nested(32)}`), withMore(`"a":${nested(500)}`)],
    refusal: invalidJson
  }),
  refuses({
    id: "create.not-utf8",
    law: "A body that is not UTF-8, or begins with a byte order mark, answers 400.",
    clauses: ["create.json-utf8"],
    level: "design",
    bodies: [
      rawName(0xff),
      rawName(0xe9),
      rawName(0xc0, 0x80),
      rawName(0xed, 0xa0, 0x80),
      rawName(0xf4, 0x90, 0x80, 0x80),
      Uint8Array.from([0xef, 0xbb, 0xbf, ...bytes('{"name":"a","categoryId":1}')]),
      utf16('{"name":"a","categoryId":1}')
    ],
    refusal: invalidJson
  }),
  define({
    id: "create.other-content-types",
    law: "A creation that is not announced as application/json in UTF-8 answers 415.",
    clauses: ["create.content-type", "create.content-type-form"],
    level: "design",
    profile: "core",
    on: "http",
    requests: 9,
    examples: [
      undefined,
      "text/plain",
      "text/json",
      "application/x-www-form-urlencoded",
      "application/jsonp",
      "application/problem+json",
      "application/json; charset=iso-8859-1",
      "application/json; charset=utf-16",
      "application/json, text/plain"
    ],
    holds: (http, type, trial) =>
      Effect.gen(function* () {
        const headers: ReadonlyArray<Header> = type === undefined ? [] : [["Content-Type", type]]
        const exchange = yield* http.send(asType(headers, Answers.filled(Answers.plain, http, trial)))
        yield* Answers.refused(exchange, { status: [415], code: "unsupported_media_type" })
      })
  }),
  define({
    id: "create.content-type-forms",
    law: "The content type may be in any case and name UTF-8 as its charset.",
    clauses: ["create.content-type-form"],
    level: "design",
    profile: "core",
    on: "http",
    requests: 5,
    examples: [
      "application/json",
      "Application/JSON",
      "application/json; charset=utf-8",
      "application/json;charset=UTF-8",
      'application/json ; charset="utf-8"'
    ],
    holds: (http, type, trial) =>
      Effect.gen(function* () {
        const body = Answers.filled(Answers.plain, http, trial)
        yield* Answers.pet(yield* http.send(asType([["Content-Type", type]], body)), 201)
      })
  }),
  define({
    id: "create.encoded-body",
    law: "A creation with a content coding answers 415.",
    clauses: ["create.content-encoding"],
    level: "design",
    profile: "core",
    on: "http",
    requests: 3,
    examples: ["gzip", "br", "identity"],
    holds: (http, coding, trial) =>
      Effect.gen(function* () {
        const exchange = yield* http.send(
          asType(
            [
              ["Content-Type", "application/json"],
              ["Content-Encoding", coding]
            ],
            Answers.filled(Answers.plain, http, trial)
          )
        )
        yield* Answers.refused(exchange, { status: [415], code: "unsupported_media_type" })
      })
  }),
  define({
    id: "create.too-large",
    law: "A body of more than 64 KiB answers 413, however few characters it has.",
    clauses: ["create.body-size", "create.body-size-counted"],
    level: "design",
    profile: "core",
    on: "http",
    requests: 3,
    examples: [
      { size: LARGEST + 1, padding: " " },
      { size: LARGEST + 1, padding: "\u{1f408}" },
      { size: 4 * LARGEST, padding: " " }
    ],
    holds: (http, { padding, size }, trial) =>
      Effect.gen(function* () {
        const body = padded(Answers.filled(Answers.plain, http, trial), size, padding)
        yield* Answers.refused(yield* http.send(Answers.creation(body)), {
          status: [413],
          code: "payload_too_large"
        })
      })
  }),
  define({
    id: "create.large",
    law: "A body of 64 KiB is read.",
    clauses: ["create.body-size-accepted"],
    level: "design",
    profile: "core",
    on: "http",
    requests: 2,
    examples: [" ", "\u{1f408}"],
    holds: (http, padding, trial) =>
      create(http, padded(Answers.filled(Answers.plain, http, trial), LARGEST, padding))
  }),
  define({
    id: "create.address",
    law: "While getPet exists a 201 names the address of the new animal in Location, and no longer then.",
    clauses: ["create.location"],
    level: "design",
    profile: "core",
    on: "http",
    requests: 2,
    examples: [undefined],
    holds: (http, _, trial) =>
      Effect.gen(function* () {
        const exchange = yield* http.send(Answers.creation(Answers.filled(Answers.plain, http, trial)))
        const { id } = yield* Answers.pet(exchange, 201)
        const wanted = `${http.facts.basePath}/pets/${id}`
        const location = header(exchange.response, "location")
        const isRemoved = exchange.receivedAt >= Date.UTC(2030, 11, 5)
        yield* isRemoved
          ? expect(location === undefined, "no Location", String(location))
          : expect(location?.endsWith(wanted) === true, `Location: ${wanted}`, location ?? "no Location")
      })
  })
]
