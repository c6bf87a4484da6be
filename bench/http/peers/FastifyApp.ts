/** Serves the three operations with Fastify and JSON schemas over a store, and limits requests. */
import rateLimit from "@fastify/rate-limit"
import { Ajv } from "ajv"
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply } from "fastify"
import { type Animal, type Caller, type NewAnimal, type Page, type Status, statuses } from "../Catalogue.ts"
import * as Peer from "../Peer.ts"
import { type ErrorBody, failed, invalid, notFound, tooMany, unauthorized } from "./ErrorBody.ts"
import * as MaybePromise from "./MaybePromise.ts"

/** The data of a server. */
export interface Store {
  readonly findCaller: (token: string) => MaybePromise.MaybePromise<Caller | undefined>
  readonly find: (id: number) => MaybePromise.MaybePromise<Animal | undefined>
  readonly insert: (animal: NewAnimal) => MaybePromise.MaybePromise<Animal>
  /** Returns at most `limit` animals whose ids are greater than `after`. */
  readonly page: (limit: number, status: Status | undefined, after: number) => MaybePromise.MaybePromise<Page>
}

/** The result of counting a request. */
export interface Counted {
  readonly isAdmitted: boolean
  readonly remaining: number
  /** Milliseconds until the window ends. */
  readonly resetsInMs: number
}

/** Counts a request of a caller in its minute and its day. */
export type Count = (caller: Caller) => MaybePromise.MaybePromise<Counted>

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

const SCHEME = "Bearer "

const authenticate = (fastify: FastifyInstance, { findCaller }: Store): void => {
  fastify.decorateRequest("caller", null)
  fastify.addHook("onRequest", (request, reply, done) => {
    const { authorization } = request.headers
    const accept = (caller: Caller | undefined): void => {
      request.caller = caller ?? null
      if (caller === undefined) reply.code(401).send(unauthorized)
      else done()
    }
    if (authorization?.startsWith(SCHEME)) {
      const found = findCaller(authorization.slice(SCHEME.length))
      if (found instanceof Promise) found.then(accept, done)
      else accept(found)
    } else accept(undefined)
  })
}

/** Counts each request with `count`, or if it is absent, in this process and only per minute. */
const limit = async (fastify: FastifyInstance, count: Count | undefined): Promise<void> => {
  if (count === undefined) {
    // This plugin's hook belongs to the routes, so it runs after the hook that authenticates.
    await fastify.register(rateLimit, {
      timeWindow: "1 minute",
      keyGenerator: (request) => request.caller?.id ?? request.ip,
      max: (request) => request.caller?.perMinute ?? 0,
      errorResponseBuilder: () => ({ statusCode: 429, ...tooMany })
    })
    return
  }
  fastify.addHook("onRequest", ({ caller }, reply, done) => {
    if (caller === null) {
      done()
      return
    }
    const apply = ({ isAdmitted, remaining, resetsInMs }: Counted): void => {
      reply
        .header("X-RateLimit-Limit", caller.perMinute)
        .header("X-RateLimit-Remaining", remaining)
        .header("X-RateLimit-Reset", Math.ceil((Date.now() + resetsInMs) / 1000))
      if (isAdmitted) done()
      else
        reply
          .code(429)
          .header("Retry-After", Math.ceil(resetsInMs / 1000))
          .send(tooMany)
    }
    const counted = count(caller)
    if (counted instanceof Promise) counted.then(apply, done)
    else apply(counted)
  })
}

const setErrorHandler = (fastify: FastifyInstance): void => {
  fastify.setErrorHandler((error: FastifyError | (ErrorBody & { readonly statusCode: 429 }), _, reply) => {
    if (error.statusCode === 429) reply.code(429).send(tooMany)
    else if (error.statusCode === undefined || error.statusCode >= 500) reply.code(500).send(failed)
    else reply.code(error.statusCode).send({ ...invalid(error.message), status: error.statusCode })
  })
}

/** Sets the `Link` header unless the page is the last one. The cursor is the last id on the page. */
const link = (reply: FastifyReply, { animals, hasMore }: Page, { limit, status }: ListQuery): void => {
  if (!hasMore) return
  const filter = status === undefined ? "" : `&status=${status}`
  reply.header("Link", `</v1/pets?limit=${limit}${filter}&cursor=${animals.at(-1)?.id}>; rel="next"`)
}

const addRoutes = (fastify: FastifyInstance, store: Store): void => {
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
    ({ query }, reply) =>
      MaybePromise.map(store.page(query.limit, query.status, query.cursor ?? 0), (page) => {
        link(reply, page, query)
        return page.animals
      })
  )

  // Fastify's default validator coerces types. Queries need this, but bodies must have the right types.
  const bodies = new Ajv({ coerceTypes: false, useDefaults: true, removeAdditional: true })
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
    ({ body }, reply) => {
      reply.code(201)
      return store.insert(body)
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
    ({ params }, reply) =>
      MaybePromise.map(store.find(params.id), (animal) => {
        if (animal !== undefined) return animal
        reply.code(404)
        return notFound
      })
  )
}

/** Starts a server; without `count`, requests are counted in this process. */
export const serve = async (store: Store, count?: Count): Promise<void> => {
  const fastify = Fastify({ logger: false })
  authenticate(fastify, store)
  await limit(fastify, count)
  setErrorHandler(fastify)
  addRoutes(fastify, store)
  await fastify.ready()
  Peer.serve(await Peer.listen(fastify.server))
}
