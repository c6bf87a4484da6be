/** Lists the three operations of contract §4 with each kind of result, and HEAD, which the contract leaves open. */

export interface Operation {
  readonly method: "GET" | "POST" | "HEAD"
  /** What the request is about: the list, a valid or invalid body, a new animal, the run's first, or an unknown id. */
  readonly about: "list" | "valid" | "invalid" | "new" | "first" | "none"
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
