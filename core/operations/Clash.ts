/** Finds records that cannot form one service: operations that hide each other, and error codes without an entry. */
import type { Catalogue } from "../errors/ErrorCatalogue.ts"
import * as OwnErrors from "../errors/OwnErrors.ts"
import type { Operation } from "./Operation.ts"

/** What the operations of a service stand beside. */
export interface Surroundings {
  readonly basePath: string
  /** Paths that need no key: of probes and files. */
  readonly unlimitedPaths: ReadonlyArray<string>
  /** The errors with which operations can fail. */
  readonly catalogue: Catalogue
}

/** Returns the first clash as a sentence that begins with the id of an operation; `undefined` if there is none. */
export const first = (
  operations: ReadonlyArray<Operation>,
  surroundings: Surroundings
): string | undefined => {
  for (const [index, operation] of operations.entries()) {
    const reason =
      ofRecord(operation, surroundings) ??
      operations
        .slice(0, index)
        .map((earlier) => between(earlier, operation))
        .find((found) => found !== undefined)
    if (reason !== undefined) return `${operation.id}: ${reason}`
  }
  return undefined
}

/** Without `.` and `..`, which clients remove from URLs. */
const SEGMENT = "(?:(?!\\.{1,2}(?:/|$))[A-Za-z0-9._~-]+|\\{[A-Za-z][A-Za-z0-9_]*\\})"
const pathPattern = new RegExp(`^(?:/${SEGMENT})+$`)

const ofRecord = (
  { errors = [], id, path }: Operation,
  { basePath, catalogue, unlimitedPaths }: Surroundings
): string | undefined => {
  if (!/^[A-Za-z][A-Za-z0-9_]*$/.test(id)) return "the id must consist of letters, digits and underscores"
  if (!pathPattern.test(path)) return `the path ${path} must be like /orders/{orderId}`
  const names = path.match(/\{[^}]*\}/g) ?? []
  if (new Set(names).size < names.length) return `the path ${path} repeats a parameter`
  if (unlimitedPaths.includes(basePath + path)) return `the path ${basePath}${path} needs no key`
  const undeclared = errors.find((code) => catalogue[code] === undefined)
  return undeclared === undefined ? undefined : OwnErrors.undeclared(undeclared)
}

const shapeOf = (path: string): string => path.replaceAll(/\{[^}]*\}/g, "{}")

const between = (earlier: Operation, later: Operation): string | undefined => {
  // Names of schemas and of generated code differ from the id in their first letter.
  if (earlier.id.toLowerCase() === later.id.toLowerCase()) return `another operation has the id ${earlier.id}`
  if (shapeOf(earlier.path) !== shapeOf(later.path)) return undefined
  if (earlier.path !== later.path) {
    return `the path ${later.path} must have the parameter names of ${earlier.path}`
  }
  return earlier.method === later.method
    ? `${earlier.id} has the same method and path, ${later.method} ${later.path}`
    : undefined
}
