/**
 * Serves animal-store with its own server. Arguments: the database address; the path of another checkout, or an empty
 * string; the address of the limits database if it is a separate one, or an empty string; and "metered" to count metrics.
 */
import * as Peer from "../Peer.ts"
import { openFilled } from "./OpenFilled.ts"

const [database = "memory:", checkout, limits, kind] = process.argv.slice(2)
const { store, tokens } = await openFilled(database, {
  checkout,
  limits: limits === "" ? undefined : limits,
  isMetered: kind === "metered"
})

await Peer.serve(async () => ({ port: (await store.listen({ port: 0 })).port, tokens }))
