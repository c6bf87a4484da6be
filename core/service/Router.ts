/** Maps the method and path of a request to an operation (contract §4), for any list of operations. */
import type { Operation } from "../operations/Operation.ts"
import * as Target from "./Target.ts"

/** A path template with its operations by method. */
export interface Resource {
  /** The path template, such as `/pets/{petId}`. */
  readonly path: string
  /** The operations by method; `HEAD` maps to the operation of `GET`. */
  readonly operations: ReadonlyMap<string, Operation>
  /** The value of the `Allow` header. */
  readonly allow: string
}

/** The result of routing a request. */
export interface Route {
  readonly resource: Resource
  /** The template of the path, with the base path. */
  readonly template: string
  /** `undefined` if the resource does not support the method. */
  readonly operation: Operation | undefined
  /** The path parameters, percent-decoded. */
  readonly parameters: { readonly [name: string]: string }
}

/** Returns the route of a request, or `undefined` if no resource has the path. */
export type Router = (method: string, path: string) => Route | undefined

/** Groups operations by path, in the order of their first occurrence. */
export const resourcesOf = (operations: ReadonlyArray<Operation>): ReadonlyArray<Resource> => {
  const byPath = new Map<string, Map<string, Operation>>()
  for (const operation of operations) {
    const byMethod = byPath.get(operation.path) ?? new Map<string, Operation>()
    byPath.set(operation.path, byMethod.set(operation.method, operation))
    if (operation.method === "GET") byMethod.set("HEAD", operation)
  }
  return [...byPath].map(([path, byMethod]) => ({
    path,
    operations: byMethod,
    allow: [...byMethod.keys(), "OPTIONS"].join(", ")
  }))
}

/** Creates a router for resources below a base path such as `/v1`; an empty base path means the root. */
export const make = (basePath: string, resources: ReadonlyArray<Resource>): Router => {
  const templates = resources
    .map((resource) => {
      const template = basePath + resource.path
      return { resource, template, segments: segmentsOf(template) }
    })
    .sort((a, b) => compareTemplates(a.segments, b.segments))
  return (method, path) => {
    const segments = Target.segments(path)
    if (segments === undefined) return undefined
    for (const { resource, segments: expected, template } of templates) {
      const parameters = match(expected, segments)
      if (parameters !== undefined) {
        return { resource, template, operation: resource.operations.get(method), parameters }
      }
    }
    return undefined
  }
}

type Segment = { readonly literal: string } | { readonly parameter: string }

const segmentsOf = (path: string): ReadonlyArray<Segment> =>
  path
    .slice(1)
    .split("/")
    .map((segment) => (segment.startsWith("{") ? { parameter: segment.slice(1, -1) } : { literal: segment }))

/** Orders templates so that literal segments match before parameters: `/pets/count` before `/pets/{petId}`. */
const compareTemplates = (a: ReadonlyArray<Segment>, b: ReadonlyArray<Segment>): number => {
  const rank = (segments: ReadonlyArray<Segment>) =>
    segments.map((segment) => ("literal" in segment ? "0" : "1")).join("")
  return rank(a) < rank(b) ? -1 : rank(a) > rank(b) ? 1 : 0
}

/** Returns the parameters of a path, or `undefined` if the template does not match. Empty parameters do not match. */
const match = (
  template: ReadonlyArray<Segment>,
  segments: ReadonlyArray<string>
): { readonly [name: string]: string } | undefined => {
  if (template.length !== segments.length) return undefined
  const parameters: { [name: string]: string } = {}
  let index = 0
  for (const part of template) {
    const segment = segments[index++] ?? ""
    if ("parameter" in part) {
      if (segment === "") return undefined
      parameters[part.parameter] = segment
    } else if (segment !== part.literal) return undefined
  }
  return parameters
}
