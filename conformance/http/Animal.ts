/** Defines animals as a client sends and receives them (contract §2). */
import type { PetStatus } from "../../core/domain/PetStatus.ts"

/** An animal to be created (contract §2 `NewPet`). */
export interface Draft {
  readonly name: string
  readonly categoryId: bigint
  readonly status: PetStatus | undefined
}

/** An animal in a response (contract §2 `Pet`); the contract promises a `status` only if one was sent. */
export interface Animal extends Draft {
  readonly id: bigint
}

export const isInt64 = (value: unknown): value is bigint =>
  typeof value === "bigint" && BigInt.asIntN(64, value) === value
