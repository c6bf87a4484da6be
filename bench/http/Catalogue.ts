/** What every measured server serves: the same thousand animals, to the same callers. */

/** How a peer keeps an animal: ids are small enough for a `number`. */
export interface Animal {
  readonly id: number
  readonly name: string
  readonly categoryId: number
  readonly status: Status
}

export const statuses = ["available", "pending", "sold"] as const

export type Status = (typeof statuses)[number]

export type NewAnimal = Omit<Animal, "id">

/** In the order of creation, so that each server numbers them from 1. */
export const animals: ReadonlyArray<NewAnimal> = Array.from({ length: 1_000 }, (_, index) => ({
  name: `Rex the ${index + 1}th of his name`,
  categoryId: 1_000 + (index % 17),
  status: statuses[index % 3] ?? "available"
}))

/** A caller as a peer knows it. */
export interface Caller {
  readonly id: string
  readonly perMinute: number
}

/** Requests a minute that no run exhausts. */
export const ENDLESS = 1_000_000_000

/** The tokens by which a server knows the two callers. */
export interface Tokens {
  /** May send without end. */
  readonly endless: string
  /** May send one request a minute, or a day where the server has days. */
  readonly exhausted: string
}

/** Those of the peers; ours are issued by the service itself. All have the same length. */
export const tokens: Tokens = {
  endless: "ast_5mkM6vRhYxVZQ2ySBbMvN1xJjt01aE3j8",
  exhausted: "ast_9XkM6vRhYxVZQ2ySBbMvN1xJjt00XH2UH"
}

/** Well-formed, so that it is looked up, and known to no server. */
export const unknownToken = "ast_00000000000000000000000000010kADx"

/** The callers of the peers by token. */
export const callers: ReadonlyMap<string, Caller> = new Map([
  [tokens.endless, { id: "endless", perMinute: ENDLESS }],
  [tokens.exhausted, { id: "exhausted", perMinute: 1 }]
])

/** The animals of a peer: an array, read from the front and no further than needed. */
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

  page(limit: number, status: Status | undefined): ReadonlyArray<Animal> {
    if (status === undefined) return this.#animals.slice(0, limit)
    const found: Array<Animal> = []
    for (const animal of this.#animals) {
      if (animal.status === status && found.push(animal) === limit) break
    }
    return found
  }
}
