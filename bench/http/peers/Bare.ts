/**
 * `node:http` and nothing else: one answer, whatever is asked. In its fastest form, with `optimizeEmptyRequests`, unless
 * the first argument is `defaults`.
 */
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import { tokens } from "../Catalogue.ts"
import * as Peer from "../Peer.ts"

let answer: Peer.FixedAnswer = { status: 200, body: "" }
let headers: Array<string> = []

const server = http.createServer({ optimizeEmptyRequests: process.argv[2] !== "defaults" }, (_, response) => {
  response.writeHead(answer.status, headers)
  response.end(answer.body)
})

await Peer.serve(
  () =>
    new Promise((resolve) => {
      server.listen(0, "127.0.0.1", () => resolve({ port: (server.address() as AddressInfo).port, tokens }))
    }),
  (given) => {
    answer = given
    headers = [
      "Content-Type",
      "application/json; charset=utf-8",
      "Content-Length",
      String(Buffer.byteLength(given.body))
    ]
  }
)
