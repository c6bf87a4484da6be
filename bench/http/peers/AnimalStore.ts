/**
 * Serves animal-store with its own server. Arguments:
 *
 * 1. The address of the database; by default `memory:`.
 * 2. The address of a separate database for limits; if empty, none.
 * 3. The path of the checkout to serve; if empty, this one.
 * 4. "metered" to collect metrics.
 */
import * as Peer from "../Peer.ts"
import { openFilled } from "./OpenFilled.ts"

const [database = "memory:", limits, checkout, metrics] = process.argv.slice(2)
const { store, tokens } = await openFilled(database, { checkout, limits, isMetered: metrics === "metered" })

Peer.serve({ port: (await store.listen({ port: 0 })).port, tokens })
