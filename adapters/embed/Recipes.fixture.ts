/** Mounts the store in common hosts; docs/recipes contains complete programs. */
import * as http from "node:http"
import express from "express"
import Fastify from "fastify"
import { Hono } from "hono"
import { openAnimalStore } from "./index.ts"

export const node = async () => {
  const store = await openAnimalStore()
  const server = http.createServer(store.nodeListener)
  return { store, server }
}

export const express5 = async () => {
  const store = await openAnimalStore()
  const app = express()
  app.use("/v1", store.nodeListener) // before express.json()
  return { store, app }
}

export const fastify5 = async () => {
  const store = await openAnimalStore()
  const app = Fastify()
  app.addHook("onRequest", (request, reply, next) => {
    if (!request.url.startsWith("/v1/")) return next()
    reply.hijack()
    reply.raw.setHeaders(
      new Map(Object.entries(reply.getHeaders()).map(([name, value = ""]) => [name, value]))
    )
    store.nodeListener(request.raw, reply.raw)
  })
  return { store, app }
}

export const hono4 = async () => {
  const store = await openAnimalStore()
  const app = new Hono()
  app.all("/v1/*", (c) => store.fetch(c.req.raw))
  return { store, app }
}

export const nodeAtPrefix = async () => {
  const store = await openAnimalStore({ basePath: "/animals/v1" })
  const server = http.createServer((request, response) => {
    if (request.url?.startsWith("/animals/v1/")) return store.nodeListener(request, response)
    response.writeHead(404).end()
  })
  return { store, server }
}

export const express5AtPrefix = async () => {
  const store = await openAnimalStore({ basePath: "/animals/v1" })
  const app = express()
  app.use("/animals/v1", store.nodeListener)
  return { store, app }
}

export const fastify5AtPrefix = async () => {
  const store = await openAnimalStore({ basePath: "/animals/v1" })
  const app = Fastify()
  app.addHook("onRequest", (request, reply, next) => {
    if (!request.url.startsWith("/animals/v1/")) return next()
    reply.hijack()
    reply.raw.setHeaders(
      new Map(Object.entries(reply.getHeaders()).map(([name, value = ""]) => [name, value]))
    )
    store.nodeListener(request.raw, reply.raw)
  })
  return { store, app }
}

export const hono4AtPrefix = async () => {
  const store = await openAnimalStore({ basePath: "/animals/v1" })
  const app = new Hono()
  app.all("/animals/v1/*", (c) => store.fetch(c.req.raw))
  return { store, app }
}
