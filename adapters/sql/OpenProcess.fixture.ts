/**
 * A process that opens the database in its arguments as a node does, once its standard input ends, and issues the first
 * key. It prints `ready`, then the id of that key, or nothing when another process has issued it.
 */
import { once } from "node:events"
import { openAnimalStore } from "../embed/AnimalStore.ts"

process.stdout.write("ready\n")
process.stdin.resume()
await once(process.stdin, "end")
const store = await openAnimalStore({
  database: process.argv[2],
  databaseTimeoutMs: 20_000,
  logLevel: "warn"
})
const key = await store.keys.issueFirst({ plan: "Free" })
process.stdout.write(key?.id ?? "")
await store.close()
