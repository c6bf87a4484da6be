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

const options = { basePath: "/animals/v1", docs: true }

export const nodeAtPrefix = async () => {
  const store = await openAnimalStore(options)
  const server = http.createServer((request, response) => {
    if (/^\/animals(?:\/|$)/.test(request.url ?? "")) return store.nodeListener(request, response)
    response.writeHead(404).end()
  })
  return { store, server }
}

export const fastify5AtPrefix = async () => {
  const store = await openAnimalStore(options)
  const app = Fastify()
  app.addHook("onRequest", (request, reply, next) => {
    if (!/^\/animals(?:\/|$)/.test(request.url)) return next()
    reply.hijack()
    reply.raw.setHeaders(
      new Map(Object.entries(reply.getHeaders()).map(([name, value = ""]) => [name, value]))
    )
    store.nodeListener(request.raw, reply.raw)
  })
  return { store, app }
}

export const hono4AtPrefix = async () => {
  const store = await openAnimalStore(options)
  const app = new Hono()
  app.all("/animals/*", (c) => store.fetch(c.req.raw)) // also matches /animals
  return { store, app }
}

/** Mounts a store with this base path at `path` in Express, which tells the service where it is. */
export const express5At = async (path: string, basePath = "/v1") => {
  const store = await openAnimalStore({ basePath, docs: true })
  const app = express()
  app.use(path, store.nodeListener)
  return { store, app }
}

/** Mounts a store as Connect does, which sets only `originalUrl`, and a slash before an empty path. */
export const connectAt = async (path: string) => {
  const store = await openAnimalStore({ docs: true })
  const server = http.createServer((request, response) => {
    const { url = "" } = request
    const rest = url.slice(path.length)
    Object.assign(request, { originalUrl: url, url: rest.startsWith("/") ? rest : `/${rest}` })
    store.nodeListener(request, response)
  })
  return { store, server }
}
