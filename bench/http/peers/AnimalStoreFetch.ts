/** Serves animal-store as a fetch handler on @hono/node-server. Argument: the database address. */
import { serve } from "@hono/node-server"
import * as Peer from "../Peer.ts"
import { openFilled } from "./OpenFilled.ts"

const { store, tokens } = await openFilled(process.argv[2] ?? "memory:")

await Peer.serve(
  () =>
    new Promise((resolve) => {
      serve({ fetch: store.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => resolve({ port, tokens }))
    })
)
