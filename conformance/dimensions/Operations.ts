/**
 * Lists the operations of contract §4 with each kind of result, and what the contract leaves open: HEAD, and operations
 * that only the service under `core/` has.
 */
import type { Description } from "../../core/operations/Operation.ts"

export interface Operation {
  readonly method: Description["method"] | "HEAD"
  /** What the request is about: the list, a valid or invalid body, a new animal, the run's first, or an unknown id. */
  readonly about: "list" | "valid" | "invalid" | "new" | "first" | "none"
  /**
   * The status with which an operation outside the contract succeeds; other services may reject it. Such an operation
   * must be about `new`, because it may delete the animal.
   */
  readonly ownStatus?: number
}

export const operations = {
  "list animals": { method: "GET", about: "list" },
  "create an animal": { method: "POST", about: "valid" },
  "get a new animal": { method: "GET", about: "new" },
  "get an old animal": { method: "GET", about: "first" },
  "get no animal": { method: "GET", about: "none" },
  "create without a name": { method: "POST", about: "invalid" },
  "HEAD of the list": { method: "HEAD", about: "list" },
  "HEAD of an animal": { method: "HEAD", about: "first" }
} as const satisfies { readonly [name: string]: Operation }

export type OperationName = keyof typeof operations

export const names = Object.keys(operations) as ReadonlyArray<OperationName> // exactly its keys

/** Whether the path of the operation names one animal. */
export const namesOneAnimal = ({ about }: Operation): boolean =>
  about === "new" || about === "first" || about === "none"

/** The methods of operations outside the contract, which other services may reject. */
export const ownMethods: ReadonlySet<string> = new Set(
  Object.values<Operation>(operations).flatMap(({ method, ownStatus }) =>
    ownStatus === undefined ? [] : [method]
  )
)
