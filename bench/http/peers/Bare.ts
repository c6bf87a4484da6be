/** Serves with `node:http` in its fastest form: replays recorded responses in order, and ignores requests. */
import * as http from "node:http"
import * as Peer from "../Peer.ts"

interface Prepared extends Peer.FixedResponse {
  readonly headers: Array<string>
}

const prepare = ({ body, status }: Peer.FixedResponse): Prepared => ({
  status,
  body,
  headers: [
    "Content-Type",
    "application/json; charset=utf-8",
    "Content-Length",
    String(Buffer.byteLength(body))
  ]
})

let prepared: ReadonlyArray<Prepared> = []
let next = 0

const server = http.createServer({ optimizeEmptyRequests: true }, (_, response) => {
  const { body, headers, status } = prepared[next] ?? prepare({ status: 500, body: "" })
  next = next + 1 < prepared.length ? next + 1 : 0
  response.writeHead(status, headers)
  response.end(body)
})

Peer.serve(await Peer.listen(server), (responses) => {
  prepared = responses.map(prepare)
  next = 0
})
