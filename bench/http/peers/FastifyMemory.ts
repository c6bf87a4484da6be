/** Serves with Fastify, all data in memory. */
import { type Animal, callers, animals as catalogue } from "../Catalogue.ts"
import * as FastifyApp from "./FastifyApp.ts"

const animals: Array<Animal> = catalogue.map((animal, index) => ({ id: index + 1, ...animal }))

await FastifyApp.serve({
  findCaller: (token) => callers.get(token),
  find: (id) => animals[id - 1],
  insert: (animal) => {
    const inserted = { id: animals.length + 1, ...animal }
    animals.push(inserted)
    return inserted
  },
  page: (limit, status, after) => {
    if (status === undefined)
      return { animals: animals.slice(after, after + limit), hasMore: animals.length > after + limit }
    const found: Array<Animal> = []
    for (let index = after; index < animals.length; index++) {
      const animal = animals[index]
      if (animal?.status !== status) continue
      if (found.length === limit) return { animals: found, hasMore: true }
      found.push(animal)
    }
    return { animals: found, hasMore: false }
  }
})
