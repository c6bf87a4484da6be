/**
 * animal-store in its own server; arguments: the address of its database, a checkout other than this one or nothing, and
 * the address of its limits, if they are elsewhere.
 */
import * as Peer from "../Peer.ts"
import { openFilled } from "./OpenFilled.ts"

const [database = "memory:", checkout, limits] = process.argv.slice(2)
const { store, tokens } = await openFilled(database, { checkout, limits })

await Peer.serve(async () => ({ port: (await store.listen({ port: 0 })).port, tokens }))
