/** Which operation a request asks for (contract §4). */
import * as Target from "./Target.ts"

export type Operation = "listPets" | "createPet" | "getPet"

/** A resource of the interface: the operations its methods name. `HEAD` is `GET` without a body. */
export interface Resource {
  readonly path: string
  readonly operations: { readonly [method: string]: Operation }
  /** The value of `Allow`. */
  readonly allow: string
}

export const resources = {
  pets: {
    path: "/pets",
    operations: { GET: "listPets", HEAD: "listPets", POST: "createPet" },
    allow: "GET, HEAD, POST, OPTIONS"
  },
  pet: {
    path: "/pets/{petId}",
    operations: { GET: "getPet", HEAD: "getPet" },
    allow: "GET, HEAD, OPTIONS"
  }
} as const satisfies { readonly [name: string]: Resource }

export interface Route {
  readonly resource: Resource
  /** `undefined` when the resource does not support the method. */
  readonly operation: Operation | undefined
  /** The decoded segment `{petId}`, or empty. */
  readonly petId: string
}

/** Finds routes below a base path such as `/v1` (empty: the root). */
export const matcher = (basePath: string): ((method: string, path: string) => Route | undefined) => {
  const base = basePath === "" ? [] : (Target.segments(basePath) ?? [])
  const petsPath = `${basePath}/pets`
  const petPrefix = `${petsPath}/`
  return (method, path) => {
    // Nearly all paths are one of these two; only the others must be taken apart and decoded.
    if (path === petsPath) return route(resources.pets, method, "")
    if (path.startsWith(petPrefix)) {
      const petId = path.slice(petPrefix.length)
      if (/^[0-9]+$/.test(petId)) return route(resources.pet, method, petId)
    }
    const segments = Target.segments(path)
    if (segments === undefined) return undefined
    if (base.some((segment, index) => segments[index] !== segment)) return undefined
    const [collection, petId, ...rest] = segments.slice(base.length)
    if (collection !== "pets" || petId === "" || rest.length > 0) return undefined
    return petId === undefined ? route(resources.pets, method, "") : route(resources.pet, method, petId)
  }
}

const route = (resource: Resource, method: string, petId: string): Route => ({
  resource,
  operation: Object.hasOwn(resource.operations, method) ? resource.operations[method] : undefined,
  petId
})
