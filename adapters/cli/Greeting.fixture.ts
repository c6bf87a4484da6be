/** Reads what a server prints when it listens. */

export interface IssuedKey {
  readonly id: string
  readonly plan: string
  readonly key: string
}

/** The address and the keys of a server, which it announces with `--json`. */
export interface Announced {
  readonly url: string
  readonly keys: ReadonlyArray<IssuedKey>
  /** The first key; an empty string if none was issued. */
  readonly key: string
  /** Sends a GET request with the first key or another one. */
  readonly get: (path: string, key?: string) => Promise<Response>
  /** Creates an animal with the first key. */
  readonly post: (body: string, headers?: Readonly<Record<string, string>>) => Promise<Response>
}

/** Parses the line that `serve --json` prints, or returns only the URL of a greeting for people. */
export const read = (greeting: string): Announced => {
  const { keys, url }: Pick<Announced, "keys" | "url"> = greeting.startsWith('{"url"')
    ? JSON.parse(greeting)
    : { url: /http:\S+\/v1/.exec(greeting)?.[0] ?? "", keys: [] }
  const key = keys[0]?.key ?? ""
  const authorization = (secret: string) => ({ Authorization: `Bearer ${secret}` })
  return {
    url,
    keys,
    key,
    get: (path, secret = key) => fetch(url + path, { headers: authorization(secret) }),
    post: (body, headers = {}) =>
      fetch(`${url}/pets`, {
        method: "POST",
        headers: { ...authorization(key), "Content-Type": "application/json", ...headers },
        body
      })
  }
}
