/** animal-store in its own server, with everything on; the address of its database is the first argument. */
import * as Peer from "../Peer.ts"
import { openFilled } from "./OpenFilled.ts"

const { store, tokens } = await openFilled(process.argv[2] ?? "memory:")

await Peer.serve(async () => ({ port: (await store.listen({ port: 0 })).port, tokens }))
