/** Stores the animals of a plain server: assigns their ids, and orders them in lists. */
import type { Choices, Status } from "./Choices.ts"

export interface NewPet {
  readonly name: string
  readonly categoryId: bigint
  readonly status: Status | undefined
}

export interface Pet extends NewPet {
  readonly id: bigint
  /** The sort key in lists, in ascending order. */
  readonly rank: bigint | string
  /** The time of its creation, in epoch milliseconds. */
  readonly at: number
}

/** Permutes the numbers of `bits` bits: every step can be reversed, so no two numbers collide. */
const scatter = (n: bigint, bits: 63 | 64): bigint => {
  const once = BigInt.asUintN(bits, (n ^ (n >> 30n)) * 0xbf58476d1ce4e5b9n)
  const twice = BigInt.asUintN(bits, (once ^ (once >> 27n)) * 0x94d049bb133111ebn)
  return twice ^ (twice >> 31n)
}

/** For each choice of ids, returns the id of the n-th animal. */
const idOf: Readonly<Record<Choices["ids"], (n: bigint) => bigint>> = {
  consecutive: (n) => n,
  "in steps": (n) => n * 1000n,
  random: (n) => scatter(n, 63),
  "random of any sign": (n) => BigInt.asIntN(64, scatter(n, 64)),
  negative: (n) => -n,
  "from 2^53 up": (n) => 2n ** 53n + n,
  "from 2^63-1 down": (n) => 2n ** 63n - n
}

const DAY_MS = 86_400_000

const ascending = (_n: bigint, id: bigint) => id

/** For each choice of order, returns the sort key of the n-th animal. */
const rankOf: Readonly<Record<Choices["order"], (n: bigint, id: bigint, name: string) => bigint | string>> = {
  ascending,
  "newest first": (n) => -n,
  "by name": (_n, _id, name) => name,
  "by hash": (_n, id) => scatter(BigInt.asUintN(64, id), 64),
  shuffled: ascending
}

/** Creates the numbering of new animals; catalogues that share it never assign the same id. */
export const makeNumbering = ({ ids }: Pick<Choices, "ids">) => {
  let n = 0n
  return (): { readonly n: bigint; readonly id: bigint } => ({ n: ++n, id: idOf[ids](n) })
}

/** Creates a catalogue that contains the earlier animals. */
export const make = (
  { earlier, order, transitions }: Pick<Choices, "earlier" | "order" | "transitions">,
  nextNumber: ReturnType<typeof makeNumbering>
) => {
  const byId = new Map<bigint, Pet>()
  const listed: Array<Pet> = []
  let draws = 0n
  const add = (newPet: NewPet, at: number): Pet => {
    const { id, n } = nextNumber()
    const pet = { ...newPet, id, at, rank: rankOf[order](n, id, newPet.name) }
    byId.set(id, pet)
    listed.splice(listed.findLastIndex(({ rank }) => rank <= pet.rank) + 1, 0, pet)
    return pet
  }
  for (const pet of earlier) add(pet, Number.POSITIVE_INFINITY)
  const shownAt =
    (now: number) =>
    (pet: Pet): Pet =>
      transitions !== "none" && pet.status === "pending" && now - pet.at >= DAY_MS
        ? { ...pet, status: "sold" }
        : pet
  return {
    add,
    find: (id: bigint, now: number): Pet | undefined => [byId.get(id) ?? []].flat().map(shownAt(now))[0],
    /** Returns the animals with a status, or all for `null`, in the order of lists. */
    list: (status: Status | null, now: number): ReadonlyArray<Pet> =>
      listed.map(shownAt(now)).filter((pet) => status === null || pet.status === status),
    /** Returns at most `count` of the animals in random order, without repetition. */
    draw: (pets: ReadonlyArray<Pet>, count: number): ReadonlyArray<Pet> => {
      const rest = [...pets]
      return Array.from({ length: Math.min(count, rest.length) }, () => {
        const at = Number(scatter(++draws, 64) % BigInt(rest.length))
        return rest.splice(at, 1)
      }).flat()
    }
  }
}
