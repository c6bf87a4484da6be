/**
 * A process for tests. It prints `ready`. When its standard input ends, it opens the database at the address in its
 * arguments, as a node does, and issues the first key. Then it prints the id of that key, or nothing if another process
 * has issued it.
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
