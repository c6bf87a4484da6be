/**
 * Serves animal-store with its own server. Arguments: the database address, the path of another checkout (an empty
 * string for this one), and the address of the limits database if it is a separate one.
 */
import * as Peer from "../Peer.ts"
import { openFilled } from "./OpenFilled.ts"

const [database = "memory:", checkout, limits] = process.argv.slice(2)
const { store, tokens } = await openFilled(database, { checkout, limits })

await Peer.serve(async () => ({ port: (await store.listen({ port: 0 })).port, tokens }))
