/** Builds the raw requests of attackers. */

const HOST = "Host: animals.example"

export const get = (target: string, ...headers: ReadonlyArray<string>): string =>
  [`GET ${target} HTTP/1.1`, HOST, ...headers, "", ""].join("\r\n")

/** Builds a POST with a body of `bodyBytes` bytes: an animal with a very long name. */
export const post = (bodyBytes: number, ...headers: ReadonlyArray<string>): string => {
  const frame = '{"name":"","categoryId":1}'
  const body = `{"name":"${"x".repeat(bodyBytes - frame.length)}","categoryId":1}`
  return [
    "POST /v1/pets HTTP/1.1",
    HOST,
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
    ...headers,
    "",
    body
  ].join("\r\n")
}
