/** The store in common hosts; the documentation includes each region as a complete recipe. */
import * as http from "node:http"
import express from "express"
import Fastify from "fastify"
import { Hono } from "hono"
import { openAnimalStore } from "./index.ts"

export const node = async () => {
  // #region node
  const store = await openAnimalStore()
  const server = http.createServer(store.nodeListener)
  // #endregion
  return { store, server }
}

export const express5 = async () => {
  // #region express
  const store = await openAnimalStore()
  const app = express()
  app.use("/v1", store.nodeListener) // before express.json()
  // #endregion
  return { store, app }
}

export const fastify5 = async () => {
  // #region fastify
  const store = await openAnimalStore()
  const app = Fastify()
  app.addHook("onRequest", (request, reply, next) => {
    if (!request.url.startsWith("/v1/")) return next()
    reply.hijack()
    store.nodeListener(request.raw, reply.raw)
  })
  // #endregion
  return { store, app }
}

export const hono4 = async () => {
  // #region hono
  const store = await openAnimalStore()
  const app = new Hono()
  app.all("/v1/*", (c) => store.fetch(c.req.raw))
  // #endregion
  return { store, app }
}

export const nodeAtPrefix = async () => {
  // #region node-prefix
  const store = await openAnimalStore({ basePath: "/animals/v1" })
  const server = http.createServer((request, response) => {
    if (request.url?.startsWith("/animals/v1/")) return store.nodeListener(request, response)
    response.writeHead(404).end()
  })
  // #endregion
  return { store, server }
}

export const express5AtPrefix = async () => {
  // #region express-prefix
  const store = await openAnimalStore({ basePath: "/animals/v1" })
  const app = express()
  app.use("/animals/v1", store.nodeListener)
  // #endregion
  return { store, app }
}

export const fastify5AtPrefix = async () => {
  // #region fastify-prefix
  const store = await openAnimalStore({ basePath: "/animals/v1" })
  const app = Fastify()
  app.addHook("onRequest", (request, reply, next) => {
    if (!request.url.startsWith("/animals/v1/")) return next()
    reply.hijack()
    store.nodeListener(request.raw, reply.raw)
  })
  // #endregion
  return { store, app }
}

export const hono4AtPrefix = async () => {
  // #region hono-prefix
  const store = await openAnimalStore({ basePath: "/animals/v1" })
  const app = new Hono()
  app.all("/animals/v1/*", (c) => store.fetch(c.req.raw))
  // #endregion
  return { store, app }
}
