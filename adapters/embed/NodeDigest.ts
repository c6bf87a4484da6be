/** Hashes with `crypto.hash`, which takes a tenth of the time of a `Hash` object or of Web Crypto. */
import { hash } from "node:crypto"
import * as Digest from "effect/crypto/Digest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** The `Digest` service for Node. */
export const layer: Layer.Layer<Digest.Digest> = Layer.succeed(Digest.Digest, {
  digest: (algorithm, data) =>
    Effect.sync(() => new Uint8Array(hash(nodeNames[algorithm.name], data, "buffer"))),
  digestHex: (algorithm, data) => Effect.sync(() => hash(nodeNames[algorithm.name], data, "hex"))
})

const nodeNames = {
  MD5: "md5",
  "SHA-1": "sha1",
  "SHA-256": "sha256",
  "SHA-384": "sha384",
  "SHA-512": "sha512"
} as const satisfies { readonly [name in Digest.Algorithm["name"]]: string }
