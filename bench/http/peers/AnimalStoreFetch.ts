/** Serves animal-store as a fetch handler on @hono/node-server. Argument: the database address. */
import * as http from "node:http"
import { getRequestListener } from "@hono/node-server"
import * as Peer from "../Peer.ts"
import { openFilled } from "./OpenFilled.ts"

const { store, tokens } = await openFilled(process.argv[2] ?? "memory:")

const { port } = await Peer.listen(http.createServer(getRequestListener(store.fetch)))
Peer.serve({ port, tokens })
