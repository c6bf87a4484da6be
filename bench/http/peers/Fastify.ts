/** Serves with Fastify, @fastify/rate-limit and JSON schemas for requests and responses. */
import rateLimit from "@fastify/rate-limit"
import { Ajv } from "ajv"
import Fastify, { type FastifyError } from "fastify"
import { Animals, type Caller, type NewAnimal, type Status, statuses } from "../Catalogue.ts"
import * as Peer from "../Peer.ts"
import { callerOf } from "./Bearer.ts"
import { type ErrorBody, failed, invalid, notFound, tooMany, unauthorized } from "./ErrorBody.ts"
import { nextLink } from "./NextLink.ts"

declare module "fastify" {
  interface FastifyRequest {
    caller: Caller | null
  }
}

interface ListQuery {
  readonly limit: number
  readonly status?: Status
  readonly cursor?: number
}

const status = { type: "string", enum: statuses }

const pet = {
  type: "object",
  properties: {
    id: { type: "integer" },
    name: { type: "string" },
    categoryId: { type: "integer" },
    status
  },
  required: ["id", "name", "categoryId", "status"]
}

const errorBody = {
  type: "object",
  properties: {
    code: { type: "string" },
    message: { type: "string" },
    status: { type: "integer" }
  },
  required: ["code", "message", "status"]
}

// Fastify's default validator coerces types. Queries need this, but bodies must have the right types.
const bodies = new Ajv({ coerceTypes: false, useDefaults: true, removeAdditional: true })

const animals = new Animals()
const fastify = Fastify({ logger: false })

fastify.decorateRequest("caller", null)

fastify.addHook("onRequest", (request, reply, done) => {
  const caller = callerOf(request.headers.authorization)
  if (caller === undefined) {
    reply.code(401).send(unauthorized)
    return
  }
  request.caller = caller
  done()
})

// This plugin's hook belongs to the routes, so it runs after the hook above.
await fastify.register(rateLimit, {
  timeWindow: "1 minute",
  keyGenerator: (request) => request.caller?.id ?? request.ip,
  max: (request) => request.caller?.perMinute ?? 0,
  errorResponseBuilder: () => ({ statusCode: 429, ...tooMany })
})

fastify.setErrorHandler((error: FastifyError | (ErrorBody & { readonly statusCode: 429 }), _, reply) => {
  if (error.statusCode === 429) reply.code(429).send(tooMany)
  else if (error.statusCode === undefined || error.statusCode >= 500) reply.code(500).send(failed)
  else reply.code(error.statusCode).send({ ...invalid(error.message), status: error.statusCode })
})

fastify.get<{ Querystring: ListQuery }>(
  "/v1/pets",
  {
    schema: {
      querystring: {
        type: "object",
        properties: {
          limit: { type: "integer", minimum: 1, maximum: 100, default: 20 },
          status,
          cursor: { type: "integer", minimum: 1 }
        }
      },
      response: { 200: { type: "array", items: pet }, "4xx": errorBody }
    }
  },
  (request, reply) => {
    const { cursor = 0, limit, status } = request.query
    const page = animals.page(limit, status, cursor)
    const link = nextLink(page, limit, status)
    if (link !== undefined) reply.header("Link", link)
    reply.send(page.animals)
  }
)

fastify.post<{ Body: NewAnimal }>(
  "/v1/pets",
  {
    schema: {
      body: {
        type: "object",
        properties: {
          name: { type: "string", minLength: 1, maxLength: 255 },
          categoryId: { type: "integer" },
          status: { ...status, default: "available" }
        },
        required: ["name", "categoryId"],
        additionalProperties: false
      },
      response: { 201: pet, "4xx": errorBody }
    },
    validatorCompiler: ({ schema }) => bodies.compile(schema)
  },
  (request, reply) => {
    reply.code(201).send(animals.insert(request.body))
  }
)

fastify.get<{ Params: { readonly id: number } }>(
  "/v1/pets/:id",
  {
    schema: {
      params: { type: "object", properties: { id: { type: "integer" } }, required: ["id"] },
      response: { 200: pet, "4xx": errorBody }
    }
  },
  (request, reply) => {
    const animal = animals.find(request.params.id)
    if (animal === undefined) reply.code(404).send(notFound)
    else reply.send(animal)
  }
)

await fastify.ready()
Peer.serve(await Peer.listen(fastify.server))
