/** Creates the target for a server at an address, with its clock at another address. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as NodeTransport from "../http/NodeTransport.ts"
import * as ServerClock from "../http/ServerClock.ts"
import type { HttpTarget } from "./HttpSubject.ts"

export interface ServerAddress extends Omit<HttpTarget, "transport" | "basePath" | "baseUrl" | "clock"> {
  /** Base address, such as `http://127.0.0.1:3000/v1`. */
  readonly url: URL
  /** The address of the clock, or the clock itself if it is in this process; `undefined` without a clock. */
  readonly clock: URL | ServerClock.ServerClock | undefined
}

/** Parses the address of a server or of its clock; fails with what it must be, because it may contain a password. */
export const parseAddress = (given: string): Result.Result<URL, string> => {
  const url = URL.parse(given)
  if (url === null || !/^https?:$/.test(url.protocol))
    return Result.fail("must be an address that begins with http:// or https://")
  return url.search !== "" || url.hash !== "" || url.username !== "" || url.password !== ""
    ? Result.fail("must be an address without a query, a fragment or credentials")
    : Result.succeed(url)
}

const pathOf = ({ pathname }: URL): string => pathname.replace(/\/+$/, "")

/** Creates the target; its connections are closed with the scope. */
export const make = Effect.fnUntraced(function* ({
  clock,
  url,
  ...rest
}: ServerAddress): Effect.fn.Return<HttpTarget, never, Scope.Scope> {
  return {
    ...rest,
    transport: yield* NodeTransport.make(url),
    basePath: pathOf(url),
    baseUrl: url.href.replace(/\/+$/, ""),
    clock: clock instanceof URL ? ServerClock.make(yield* NodeTransport.make(clock), pathOf(clock)) : clock
  }
})
