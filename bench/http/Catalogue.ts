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
}

/** The callers of the peers, by token. */
export const callers: ReadonlyMap<string, Caller> = new Map<string, Caller>([
  ...tokens.unlimited.map((token) => [token, { id: token, perMinute: UNREACHABLE_LIMIT }] as const),
  ...tokens.exhausted.map((token) => [token, { id: token, perMinute: 1 }] as const)
])

/** A page of a list. */
export interface Page {
  readonly animals: ReadonlyArray<Animal>
  /** Whether more animals follow. */
  readonly hasMore: boolean
}

/** The animals of a peer, in an array by id. */
export class Animals {
  readonly #animals: Array<Animal> = animals.map((animal, index) => ({ id: index + 1, ...animal }))

  insert(animal: NewAnimal): Animal {
    const inserted = { id: this.#animals.length + 1, ...animal }
    this.#animals.push(inserted)
    return inserted
  }

  find(id: number): Animal | undefined {
    return this.#animals[id - 1]
  }

  /** Returns at most `limit` animals whose ids are greater than `after`. */
  page(limit: number, status: Status | undefined, after: number): Page {
    const all = this.#animals
    if (status === undefined) {
      return { animals: all.slice(after, after + limit), hasMore: all.length > after + limit }
    }
    const found: Array<Animal> = []
    for (let index = after; index < all.length; index++) {
      const animal = all[index]
      if (animal?.status !== status) continue
      if (found.length === limit) return { animals: found, hasMore: true }
      found.push(animal)
    }
    return { animals: found, hasMore: false }
  }
}
