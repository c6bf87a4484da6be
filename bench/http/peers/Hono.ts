/** Serves the benchmark's catalogue with Hono on @hono/node-server, with hono-rate-limiter and zod. */
import * as http from "node:http"
import { getRequestListener } from "@hono/node-server"
import { zValidator } from "@hono/zod-validator"
import { Hono } from "hono"
import { createMiddleware } from "hono/factory"
import { HTTPException } from "hono/http-exception"
import { rateLimiter } from "hono-rate-limiter"
import { z } from "zod"
import { Animals, type Caller } from "../Catalogue.ts"
import * as Peer from "../Peer.ts"
import { callerOf } from "./Bearer.ts"
import { failed, invalid, notFound, tooMany, unauthorized } from "./ErrorBody.ts"
import { nextLink } from "./NextLink.ts"
import { listQuery, newPet, petParams } from "./Zod.ts"

interface Env {
  readonly Variables: { readonly caller: Caller }
}

const authenticate = createMiddleware<Env>(async (c, next) => {
  const caller = callerOf(c.req.header("Authorization"))
  if (caller === undefined) return c.json(unauthorized, 401)
  c.set("caller", caller)
  await next()
})

const limiter = rateLimiter<Env>({
  windowMs: 60_000,
  limit: (c) => c.get("caller").perMinute,
  keyGenerator: (c) => c.get("caller").id,
  standardHeaders: "draft-6",
  message: tooMany
})

const animals = new Animals()
const app = new Hono<Env>()

app.use(authenticate)
app.use(limiter)

app.get(
  "/v1/pets",
  zValidator("query", listQuery, (result, c) => {
    if (!result.success) return c.json(invalid(z.prettifyError(result.error)), 400)
  }),
  (c) => {
    const { cursor, limit, status } = c.req.valid("query")
    const page = animals.page(limit, status, cursor)
    const link = nextLink(page, limit, status)
    if (link !== undefined) c.header("Link", link)
    return c.json(page.animals)
  }
)

app.post(
  "/v1/pets",
  zValidator("json", newPet, (result, c) => {
    if (!result.success) return c.json(invalid(z.prettifyError(result.error)), 400)
  }),
  (c) => c.json(animals.insert(c.req.valid("json")), 201)
)

app.get(
  "/v1/pets/:id",
  zValidator("param", petParams, (result, c) => {
    if (!result.success) return c.json(invalid(z.prettifyError(result.error)), 400)
  }),
  (c) => {
    const animal = animals.find(c.req.valid("param").id)
    return animal === undefined ? c.json(notFound, 404) : c.json(animal)
  }
)

app.notFound((c) => c.json(notFound, 404))

app.onError((error, c) =>
  error instanceof HTTPException && error.status === 400
    ? c.json(invalid(error.message), 400)
    : c.json(failed, 500)
)

Peer.serve(await Peer.listen(http.createServer(getRequestListener(app.fetch))))
