/** Defines the keys of a simulation: rank 0 is the hot key, the others have ranks from 1 by their popularity. */
import * as Plan from "../../core/limits/Plan.ts"

/** The rank of the hot key. */
export const HOT = 0

/** Hashes a rank, so that neither plan nor store depends on the popularity of a key. */
const hash = (rank: number): number => {
  let mixed = Math.imul((rank ^ 0x9e3779b9) | 0, 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}

/** Returns the plan of a key: of 100 keys, 80 have Free, 15 Pro and 5 Business; the hot key has Business. */
export const planOf = (rank: number): Plan.Plan => {
  if (rank === HOT) return Plan.standard.Business
  const drawn = hash(rank) % 100
  return drawn < 80 ? Plan.standard.Free : drawn < 95 ? Plan.standard.Pro : Plan.standard.Business
}

/** Returns the store of a key, which its hash selects. */
export const storeOf = (rank: number, stores: number): number => Math.floor((hash(rank) / 2 ** 32) * stores)
