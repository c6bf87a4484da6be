/** Defines animals as a client sends and receives them. */
import type { NewPet } from "../../core/domain/NewPet.ts"

/** An animal to be created (contract §2 `NewPet`). */
export interface Draft extends Omit<NewPet, "status"> {
  readonly status: NewPet["status"] | undefined
}

/** An animal in a response (contract §2 `Pet`); the contract promises a `status` only if one was sent. */
export interface Animal extends Draft {
  readonly id: bigint
}
