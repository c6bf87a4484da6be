/** Serves with Effect's HttpApi and RateLimiter on NodeHttpServer, with middleware for keys, limits and errors. */
import { createServer } from "node:http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpEffect from "effect/http/HttpEffect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as HttpApiSecurity from "effect/http-api/HttpApiSecurity"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as NetAddress from "effect/net/NetAddress"
import * as RateLimiter from "effect/persistence/RateLimiter"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { Animals, type Caller, callers, statuses, tokens } from "../Catalogue.ts"
import * as Peer from "../Peer.ts"
import { invalid, notFound, tooMany, unauthorized } from "./ErrorBody.ts"
import { nextLink } from "./NextLink.ts"

const errorBody = { code: Schema.String, message: Schema.String, status: Schema.Int }

class Unauthorized extends Schema.Error<Unauthorized>("Unauthorized")(errorBody, { httpApiStatus: 401 }) {}
class NotFound extends Schema.Error<NotFound>("NotFound")(errorBody, { httpApiStatus: 404 }) {}
class Invalid extends Schema.Error<Invalid>("Invalid")(errorBody, { httpApiStatus: 400 }) {}
class TooMany extends Schema.Error<TooMany>("TooMany")({ ...errorBody, retryAfter: Schema.Int }) {}

const TooManyResponse = TooMany.pipe(
  HttpApiSchema.encodeToWithHeaders(
    {
      body: Schema.Struct(errorBody).pipe(HttpApiSchema.status(429)),
      headers: { "retry-after": Schema.Int }
    },
    {
      decode: ({ body, headers }) => new TooMany({ ...body, retryAfter: headers["retry-after"] }),
      encode: ({ code, message, retryAfter, status }) => ({
        body: { code, message, status },
        headers: { "retry-after": retryAfter }
      })
    }
  )
)

class CurrentCaller extends Context.Service<CurrentCaller, Caller>()("bench/HttpApi/CurrentCaller") {}

class Authorization extends HttpApiMiddleware.Service<Authorization, { provides: CurrentCaller }>()(
  "bench/HttpApi/Authorization",
  { security: { bearer: HttpApiSecurity.bearer }, error: Unauthorized }
) {}

class RateLimit extends HttpApiMiddleware.Service<RateLimit, { requires: CurrentCaller }>()(
  "bench/HttpApi/RateLimit",
  { error: TooManyResponse }
) {}

class Validation extends HttpApiMiddleware.Service<Validation>()("bench/HttpApi/Validation", {
  error: Invalid
}) {}

const Status = Schema.Literals(statuses)

const Pet = Schema.Struct({ id: Schema.Int, name: Schema.String, categoryId: Schema.Int, status: Status })

const NewPet = Schema.Struct({
  name: Schema.String.check(Schema.isBetweenLength(1, 255)),
  categoryId: Schema.Int,
  status: Status.pipe(Schema.withDecodingDefaultKey(Effect.succeed("available" as const)))
})

class Pets extends HttpApiGroup.make("pets")
  .add(
    HttpApiEndpoint.get("list", "/", {
      query: {
        limit: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 })).pipe(
          Schema.withDecodingDefaultKey(Effect.succeed(20))
        ),
        status: Schema.optional(Status),
        cursor: Schema.optional(Schema.Int.check(Schema.isGreaterThan(0)))
      },
      success: Schema.Array(Pet)
    }),
    HttpApiEndpoint.post("create", "/", { payload: NewPet, success: Pet.pipe(HttpApiSchema.status(201)) }),
    HttpApiEndpoint.get("get", "/:id", { params: { id: Schema.Int }, success: Pet, error: NotFound })
  )
  // The last middleware is the outermost.
  .middleware(Validation)
  .middleware(RateLimit)
  .middleware(Authorization)
  .prefix("/v1/pets") {}

class Api extends HttpApi.make("animals").add(Pets) {}

const AuthorizationLayer = Layer.succeed(Authorization, {
  bearer: (httpEffect, { credential }) => {
    const caller = callers.get(Redacted.value(credential))
    return caller === undefined
      ? Effect.fail(new Unauthorized(unauthorized))
      : Effect.provideService(httpEffect, CurrentCaller, caller)
  }
})

const withLimitHeaders = (limit: number, remaining: number, resetAfter: Duration.Duration) =>
  HttpEffect.appendPreResponseHandler((_, response) =>
    Effect.succeed(
      HttpServerResponse.setHeaders(response, {
        "x-ratelimit-limit": String(limit),
        "x-ratelimit-remaining": String(remaining),
        "x-ratelimit-reset": String(Math.ceil((Date.now() + Duration.toMillis(resetAfter)) / 1000))
      })
    )
  )

const withLink = (link: string) =>
  HttpEffect.appendPreResponseHandler((_, response) =>
    Effect.succeed(HttpServerResponse.setHeader(response, "link", link))
  )

const RateLimitLayer = Layer.effect(
  RateLimit,
  Effect.gen(function* () {
    const limiter = yield* RateLimiter.RateLimiter
    return Effect.fnUntraced(function* (httpEffect) {
      const { id, perMinute } = yield* CurrentCaller
      const { limit, remaining, resetAfter } = yield* limiter
        .consume({ algorithm: "fixed-window", key: id, limit: perMinute, window: "1 minute" })
        .pipe(
          Effect.catchReason(
            "RateLimiterError",
            "RateLimitExceeded",
            (exceeded) =>
              Effect.andThen(
                withLimitHeaders(exceeded.limit, exceeded.remaining, exceeded.retryAfter),
                new TooMany({ ...tooMany, retryAfter: Math.ceil(Duration.toSeconds(exceeded.retryAfter)) })
              ),
            Effect.die
          )
        )
      yield* withLimitHeaders(limit, remaining, resetAfter)
      return yield* httpEffect
    })
  })
).pipe(Layer.provide(RateLimiter.layer), Layer.provide(RateLimiter.layerStoreMemory))

const ValidationLayer = HttpApiMiddleware.layerSchemaErrorTransform(Validation, ({ cause }) =>
  Effect.fail(new Invalid(invalid(cause.message)))
)

const animals = new Animals()

const PetsHandlers = HttpApiBuilder.group(Api, "pets", (handlers) =>
  handlers.handleAll({
    list: Effect.fnUntraced(function* ({ query: { cursor, limit, status } }) {
      const page = animals.page(limit, status, cursor ?? 0)
      const link = nextLink(page, limit, status)
      if (link !== undefined) yield* withLink(link)
      return page.animals
    }),
    create: ({ payload }) => Effect.sync(() => animals.insert(payload)),
    get: ({ params }) => {
      const animal = animals.find(params.id)
      return animal === undefined ? Effect.fail(new NotFound(notFound)) : Effect.succeed(animal)
    }
  })
).pipe(Layer.provide([AuthorizationLayer, RateLimitLayer, ValidationLayer]))

const ServerLayer = HttpRouter.serve(HttpApiBuilder.layer(Api).pipe(Layer.provide(PetsHandlers)), {
  disableLogger: true,
  disableListenLog: true
}).pipe(Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })))

const { address } = await ManagedRuntime.make(ServerLayer).runPromise(HttpServer.HttpServer)
if (NetAddress.isUnixPathAddress(address)) throw new Error("the server listens on no port")
Peer.serve({ port: address.port, tokens })
