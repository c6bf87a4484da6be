/** Requests as attackers write them. */

const HOST = "Host: animals.example"

export const get = (target: string, ...headers: ReadonlyArray<string>): string =>
  [`GET ${target} HTTP/1.1`, HOST, ...headers, "", ""].join("\r\n")

/** A POST of an animal whose name is far too long, in so many bytes. */
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
