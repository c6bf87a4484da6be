/** Lists the ways in which a request uses up limits: each operation, and each way to be refused. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type { Sent, Tools } from "../Program.ts"

export interface Way {
  readonly name: string
  /** Whether the contract describes the request and its values, only the request, or neither. */
  readonly kind: "usual" | "refused" | "undescribed"
  readonly sent: (tools: Tools) => Sent
}

const way = (kind: Way["kind"], name: string, sent: (tools: Tools) => Sent | string): Way => ({
  kind,
  name,
  sent: (tools) => {
    const given = sent(tools)
    return typeof given === "string" ? { path: given } : given
  }
})

const newest = ({ created }: Tools): string => `/pets/${created().at(-1)?.id ?? 1}`

const missing = "/pets/9223372036854775807"

const post = (json: string, headers: Sent["headers"] = []): Sent => ({
  method: "POST",
  path: "/pets",
  json,
  headers
})

/** Returns the preferred category if the server accepts every one, otherwise one that it accepts. */
const category = ({ categories }: Tools, preferred = 1n): bigint =>
  categories === "any" ? preferred : (categories[0] ?? 1n)

const creation =
  (members = "", preferred?: bigint) =>
  (tools: Tools): Sent =>
    post(`{"name":"${tools.name()}","categoryId":${category(tools, preferred)}${members}}`)

/** A creation with other members; `name` and `categoryId` are valid unless they are replaced. */
const defective =
  (members: string) =>
  (tools: Tools): Sent =>
    post(
      members
        .replace("NAME", `"name":"${tools.name()}"`)
        .replace("CATEGORY", `"categoryId":${category(tools)}`)
    )

export const list = way("usual", "list", () => "/pets")
export const retrieval = way("usual", "retrieval", newest)
export const longList = way("usual", "list with the largest limit", () => "/pets?limit=100")

export const ways: ReadonlyArray<Way> = [
  list,
  way("usual", "list with a limit", () => "/pets?limit=1"),
  longList,
  way("usual", "list by status", () => "/pets?status=sold"),
  way("usual", "list with both parameters", () => "/pets?status=pending&limit=2"),
  way("usual", "creation", creation(',"status":"available"')),
  way("usual", "creation of a pending animal", creation(',"status":"pending"')),
  way("usual", "creation without a status", creation()),
  way("usual", "creation in a large category", creation(',"status":"sold"', 2n ** 53n + 1n)),
  retrieval,
  way(
    "usual",
    "retrieval of an early animal",
    ({ created }) => `/pets/${(created()[11] ?? created()[0])?.id ?? 1}`
  ),
  way("refused", "retrieval of an unknown id", () => missing),
  way("refused", "retrieval with another unknown id", () => "/pets/-9000000000000000001"),
  way("refused", "creation without a name", defective("{CATEGORY}")),
  way("refused", "creation without a category", defective("{NAME}")),
  way("refused", "creation with a number as its name", defective('{"name":1,CATEGORY}')),
  way("refused", "creation with a text as its category", defective('{NAME,"categoryId":"one"}')),
  way("refused", "creation with an unknown status", defective('{NAME,CATEGORY,"status":"lost"}')),
  way("refused", "creation that is no object", () => post("[]")),
  way("refused", "creation that is no JSON", () => post("{")),
  way("refused", "creation without a body", () => ({ method: "POST", path: "/pets" })),
  way("undescribed", "list with a limit of 0", () => "/pets?limit=0"),
  way("undescribed", "list with a limit of 101", () => "/pets?limit=101"),
  way("undescribed", "list with a text as its limit", () => "/pets?limit=many"),
  way("undescribed", "list by an unknown status", () => "/pets?status=lost"),
  way("undescribed", "list with an unknown parameter", () => "/pets?sort=name"),
  way("undescribed", "retrieval of no integer", () => "/pets/rex"),
  way("undescribed", "HEAD of the list", () => ({ method: "HEAD", path: "/pets" })),
  way("undescribed", "HEAD of an animal", (tools) => ({ method: "HEAD", path: newest(tools) })),
  way("undescribed", "HEAD of an unknown id", () => ({ method: "HEAD", path: missing })),
  way("undescribed", "OPTIONS", () => ({ method: "OPTIONS", path: "/pets" })),
  way("undescribed", "another method", () => ({ method: "PUT", path: "/pets" })),
  way("undescribed", "another method of an animal", () => ({ method: "PUT", path: missing, json: "{}" })),
  way("undescribed", "an unknown path", () => "/nothing"),
  way("undescribed", "creation in another type", () => ({
    method: "POST",
    path: "/pets",
    body: "{}",
    headers: [["Content-Type", "text/plain"]]
  }))
]

/** The three operations, and what HTTP adds to two of them. */
export const operations: ReadonlyArray<Way> = ways.filter(({ name }) =>
  [
    "list",
    "creation",
    "retrieval",
    "retrieval of an unknown id",
    "HEAD of the list",
    "HEAD of an animal"
  ].includes(name)
)

export const ofKinds = (...kinds: ReadonlyArray<Way["kind"]>): ReadonlyArray<Way> =>
  ways.filter(({ kind }) => kinds.includes(kind))

/** The ways that certainly count, whatever a service does with requests that the contract does not describe. */
export const described = ofKinds("usual", "refused")

/** Draws `count` different items. */
export const draw = <A>(items: ReadonlyArray<A>, count: number): Effect.Effect<ReadonlyArray<A>> =>
  Effect.map(Random.shuffle(items), (shuffled) => shuffled.slice(0, count))
