/** The requests that every server is measured with, and what a right answer to each of them is. */
import { type Animal, animals, type NewAnimal, statuses, type Tokens, unknownToken } from "./Catalogue.ts"

/** One request and what it must be answered with. */
export interface Operation {
  readonly name: string
  readonly method: "GET" | "POST"
  readonly target: string
  readonly token: (tokens: Tokens) => string
  readonly body?: string
  readonly status: number
  /** What is wrong with the body of an answer, or `undefined`. */
  readonly fault: (body: unknown) => string | undefined
}

const LISTED = 20
const FILTERED = 100
const FOUND = 500

const numbered: ReadonlyArray<Animal> = animals.map((animal, index) => ({ id: index + 1, ...animal }))
const created: NewAnimal = { name: "Rex", categoryId: 7, status: "sold" }

const same = (expected: unknown) => (body: unknown) =>
  JSON.stringify(body) === JSON.stringify(expected) ? undefined : `the body is ${JSON.stringify(body)}`

const isObject = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === "object" && value !== null

/** A body that tells a program and a person what was wrong. */
const tellsError = (body: unknown): string | undefined =>
  isObject(body) && typeof body.message === "string" ? undefined : "the body has no message"

const endless = ({ endless }: Tokens): string => endless

export const operations: ReadonlyArray<Operation> = [
  {
    name: "list 20",
    method: "GET",
    target: "/v1/pets",
    token: endless,
    status: 200,
    fault: same(numbered.slice(0, LISTED))
  },
  {
    name: "list 100 filtered",
    method: "GET",
    target: `/v1/pets?limit=${FILTERED}&status=${statuses[2]}`,
    token: endless,
    status: 200,
    fault: same(numbered.filter(({ status }) => status === statuses[2]).slice(0, FILTERED))
  },
  {
    name: "get",
    method: "GET",
    target: `/v1/pets/${FOUND}`,
    token: endless,
    status: 200,
    fault: same(numbered[FOUND - 1])
  },
  {
    name: "create",
    method: "POST",
    target: "/v1/pets",
    token: endless,
    body: JSON.stringify(created),
    status: 201,
    fault: (body) =>
      isObject(body) && Number(body.id) > animals.length
        ? same({ id: body.id, ...created })(body)
        : "no new id"
  },
  {
    name: "401",
    method: "GET",
    target: "/v1/pets",
    token: () => unknownToken,
    status: 401,
    fault: tellsError
  },
  {
    name: "429",
    method: "GET",
    target: "/v1/pets",
    token: ({ exhausted }) => exhausted,
    status: 429,
    fault: tellsError
  },
  {
    name: "400",
    method: "POST",
    target: "/v1/pets",
    token: endless,
    body: JSON.stringify({ name: 7, status: "lost" }),
    status: 400,
    fault: tellsError
  }
]

/** The request as it goes over the wire. */
export const bytesOf = ({ body, method, target, token }: Operation, tokens: Tokens, port: number): string =>
  [
    `${method} ${target} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    `Authorization: Bearer ${token(tokens)}`,
    "Accept: */*",
    ...(body === undefined ? [] : ["Content-Type: application/json", `Content-Length: ${body.length}`]),
    "",
    body ?? ""
  ].join("\r\n")
