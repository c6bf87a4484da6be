/**
 * Defines animals as a client sends and receives them, and what the suite requires of each field in a response: the
 * types of the contract (§2), and for fields that only the service under `core/` has, the schema of the service.
 */
import * as Schema from "effect/Schema"
import type { NewPet } from "../../core/domain/NewPet.ts"
import * as PetFields from "../../core/domain/PetFields.ts"
import * as PetStatus from "../../core/domain/PetStatus.ts"

/** An animal to be created (contract §2 `NewPet`). */
export interface Draft extends Omit<NewPet, "status"> {
  readonly status: NewPet["status"] | undefined
}

/** An animal in a response (contract §2 `Pet`); the contract promises a `status` only if one was sent. */
export interface Animal extends Draft {
  readonly id: bigint
}

interface AnimalField {
  readonly name: PetFields.FieldName
  /** Whether a parsed value is valid; integers are bigints. */
  readonly is: (value: unknown) => boolean
  /** The type, for messages, such as "an int64". */
  readonly type: string
  /** Whether every animal must have the field. */
  readonly isPromised: boolean
  /** Whether the field of an animal may change. */
  readonly mayChange: boolean
}

export const isInt64 = (value: unknown): value is bigint =>
  typeof value === "bigint" && BigInt.asIntN(64, value) === value

const field = (
  type: string,
  is: AnimalField["is"],
  { isPromised = true, mayChange = false } = {}
): Omit<AnimalField, "name"> => ({ type, is, isPromised, mayChange })

/** The fields of the contract, which promises a `status` only if one was sent. */
const contract: { readonly [field in PetFields.FieldName]?: Omit<AnimalField, "name"> } = {
  name: field("a string", (value) => typeof value === "string"),
  categoryId: field("an int64", isInt64),
  status: field("a PetStatus", (value) => PetStatus.all.some((status) => status === value), {
    isPromised: false,
    mayChange: true
  })
}

/** The fields, in the order of `PetFields.names`. */
export const fields: ReadonlyArray<AnimalField> = PetFields.names.map((name) => ({
  name,
  ...(contract[name] ?? field("valid", Schema.is(PetFields.schemas[name]), { isPromised: false }))
}))

/** The fields that are not in the contract. */
export const additionalFields: ReadonlyArray<keyof NewPet> = PetFields.names.filter(
  (name) => !(name in contract)
)
