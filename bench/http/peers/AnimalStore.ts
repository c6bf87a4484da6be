/** animal-store in its own server; arguments: the address of its database, and a checkout other than this one. */
import * as Peer from "../Peer.ts"
import { openFilled } from "./OpenFilled.ts"

const [database = "memory:", checkout] = process.argv.slice(2)
const { store, tokens } = await openFilled(database, checkout)

await Peer.serve(async () => ({ port: (await store.listen({ port: 0 })).port, tokens }))
