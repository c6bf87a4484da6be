/** Serves with Express, express-rate-limit and zod, set up for production as Express recommends. */
import * as http from "node:http"
import express, { type ErrorRequestHandler, type RequestHandler } from "express"
import { rateLimit } from "express-rate-limit"
import { z } from "zod"
import { Animals, type Caller } from "../Catalogue.ts"
import * as Peer from "../Peer.ts"
import { callerOf } from "./Bearer.ts"
import { failed, invalid, notFound, tooMany, unauthorized } from "./ErrorBody.ts"
import { nextLink } from "./NextLink.ts"
import { listQuery, newPet, petParams } from "./Zod.ts"

declare global {
  namespace Express {
    interface Locals {
      caller: Caller
    }
  }
}

// Express reads this variable when the application is created.
process.env.NODE_ENV = "production"

const animals = new Animals()
const app = express()
app.disable("x-powered-by")
// Disables ETags, because no other peer hashes its responses.
app.disable("etag")

const authenticate: RequestHandler = (request, response, next) => {
  const caller = callerOf(request.headers.authorization)
  if (caller === undefined) {
    response.status(401).json(unauthorized)
    return
  }
  response.locals.caller = caller
  next()
}

const limiter = rateLimit({
  windowMs: 60_000,
  limit: (_, response) => response.locals.caller.perMinute,
  keyGenerator: (_, response) => response.locals.caller.id,
  legacyHeaders: true,
  standardHeaders: false,
  message: tooMany
})

app.use(authenticate, limiter, express.json())

app.get("/v1/pets", (request, response) => {
  const query = listQuery.safeParse(request.query)
  if (!query.success) {
    response.status(400).json(invalid(z.prettifyError(query.error)))
    return
  }
  const { cursor, limit, status } = query.data
  const page = animals.page(limit, status, cursor)
  const link = nextLink(page, limit, status)
  if (link !== undefined) response.setHeader("Link", link)
  response.json(page.animals)
})

app.post("/v1/pets", (request, response) => {
  const body = newPet.safeParse(request.body)
  if (body.success) response.status(201).json(animals.insert(body.data))
  else response.status(400).json(invalid(z.prettifyError(body.error)))
})

app.get("/v1/pets/:id", (request, response) => {
  const params = petParams.safeParse(request.params)
  if (!params.success) {
    response.status(400).json(invalid(z.prettifyError(params.error)))
    return
  }
  const animal = animals.find(params.data.id)
  if (animal === undefined) response.status(404).json(notFound)
  else response.json(animal)
})

app.use((_, response) => {
  response.status(404).json(notFound)
})

// Express recognizes an error handler by its four parameters.
const onError: ErrorRequestHandler = (error: unknown, _request, response, _next) => {
  const isClientError = error instanceof Error && "status" in error && error.status === 400
  const errorBody = isClientError ? invalid(error.message) : failed
  response.status(errorBody.status).json(errorBody)
}
app.use(onError)

Peer.serve(await Peer.listen(http.createServer(app)))
