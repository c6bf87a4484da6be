/**
 * Serves animal-store with its own server. Arguments: the address of its database, another checkout or an empty text,
 * and the address of its limits, if they are in another database.
 */
import * as Peer from "../Peer.ts"
import { openFilled } from "./OpenFilled.ts"

const [database = "memory:", checkout, limits] = process.argv.slice(2)
const { store, tokens } = await openFilled(database, { checkout, limits })

await Peer.serve(async () => ({ port: (await store.listen({ port: 0 })).port, tokens }))
