/** Defines the keys of a simulation: rank 0 is the hot key, and the others have ranks from 1 on, by popularity. */
import * as Plan from "../../core/limits/Plan.ts"

/** The rank of the hot key. */
export const HOT = 0

/** Hashes a rank, so that neither the plan nor the store of a key depends on its popularity. */
const hash = (rank: number): number => {
  let mixed = Math.imul((rank ^ 0x9e3779b9) | 0, 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}

/** Returns the plan of a key: of 100 keys, 80 are on Free, 15 on Pro and 5 on Business; the hot key is on Business. */
export const planOf = (rank: number): Plan.Plan => {
  if (rank === HOT) return Plan.standard.Business
  const drawn = hash(rank) % 100
  return drawn < 80 ? Plan.standard.Free : drawn < 95 ? Plan.standard.Pro : Plan.standard.Business
}

/** Returns the store of a key, which its hash selects. */
export const storeOf = (rank: number, stores: number): number => Math.floor((hash(rank) / 2 ** 32) * stores)
