/** Defines the schemas of the peers that validate with zod. */
import { z } from "zod"
import { statuses } from "../Catalogue.ts"

const status = z.enum(statuses)

export const listQuery = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(20),
  status: status.optional(),
  cursor: z.coerce.number().int().min(1).default(0)
})

export const petParams = z.object({ id: z.coerce.number().int() })

export const newPet = z.object({
  name: z.string().min(1).max(255),
  categoryId: z.int(),
  status: status.default("available")
})
