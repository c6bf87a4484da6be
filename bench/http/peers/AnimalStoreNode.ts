/**
 * Serves one node of animal-store. Arguments: the database address, the number of keys to issue ("0" for a node on a
 * filled database), and "metered" to collect metrics.
 */
import * as Peer from "../Peer.ts"
import { open, openFilled } from "./OpenFilled.ts"

const [database = "memory:", keys = "0", metrics] = process.argv.slice(2)
const given = { isMetered: metrics === "metered", keys: Number(keys) }
const { store, tokens } =
  given.keys > 0
    ? await openFilled(database, given)
    : { store: await open(database, given), tokens: { unlimited: [], exhausted: [], unknown: [] } }

await Peer.serve(async () => ({ port: (await store.listen({ port: 0 })).port, tokens }), {
  metrics: () => store.metrics()
})
