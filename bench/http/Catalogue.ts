/** The data with which every measured server starts: animals, and callers of several kinds. */

/** An animal as a peer stores it: ids are small enough for a `number`. */
export interface Animal {
  readonly id: number
  readonly name: string
  readonly categoryId: number
  readonly status: Status
}

export const statuses = ["available", "pending", "sold"] as const

export type Status = (typeof statuses)[number]

export type NewAnimal = Omit<Animal, "id">

/** The animals in the order of their creation; each server assigns ids from 1. */
export const animals: ReadonlyArray<NewAnimal> = Array.from({ length: 3_000 }, (_, index) => ({
  name: `Rex the ${index + 1}th of his name`,
  categoryId: 1_000 + (index % 17),
  status: statuses[index % 3] ?? "available"
}))

/** A per-minute and daily limit that no run reaches. */
export const UNREACHABLE_LIMIT = 1_000_000_000

/** The number of callers of each kind. */
export const callerCounts = { unlimited: 1_000, exhausted: 16, unknown: 1_000 } as const

export type CallerKind = keyof typeof callerCounts

/** The bearer tokens of a server, by kind: limits that are never reached, limits of one request, unknown keys. */
export type Tokens = Readonly<Record<CallerKind, ReadonlyArray<string>>>

const TOKEN_LENGTH = 37

const tokensOf = (kind: CallerKind): ReadonlyArray<string> =>
  Array.from({ length: callerCounts[kind] }, (_, index) => `ast_${kind}${index}`.padEnd(TOKEN_LENGTH, "x"))

/** The tokens of the peers; they have the length of the tokens that animal-store issues. */
export const tokens: Tokens = {
  unlimited: tokensOf("unlimited"),
  exhausted: tokensOf("exhausted"),
  unknown: tokensOf("unknown")
}

/** A caller as a peer stores it. */
export interface Caller {
  readonly id: string
  readonly perMinute: number
  readonly perDay: number
}

/** The callers of the peers, by token. */
export const callers: ReadonlyMap<string, Caller> = new Map(
  (["unlimited", "exhausted"] as const).flatMap((kind) => {
    const limit = kind === "unlimited" ? UNREACHABLE_LIMIT : 1
    return tokens[kind].map((id) => [id, { id, perMinute: limit, perDay: limit }] as const)
  })
)

/** A page of a list. */
export interface Page {
  readonly animals: ReadonlyArray<Animal>
  /** Whether more animals follow. */
  readonly hasMore: boolean
}
