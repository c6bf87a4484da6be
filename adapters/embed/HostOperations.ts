/** Turns the operations of a host into operations of the service: promises and validators end here. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Json from "../../core/codec/Json.ts"
import * as JsonBody from "../../core/codec/JsonBody.ts"
import type * as QueryParameters from "../../core/codec/QueryParameters.ts"
import * as QueryString from "../../core/codec/QueryString.ts"
import * as ApiError from "../../core/errors/ApiError.ts"
import * as OwnErrors from "../../core/errors/OwnErrors.ts"
import { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"
import * as Operation from "../../core/operations/Operation.ts"
import { InvalidOption } from "../../core/options/InvalidOption.ts"
import type { PetRepository } from "../../core/ports/PetRepository.ts"
import { callerOf } from "../../core/service/HostRoute.ts"
import type { ServiceOptions } from "../../core/service/ServiceOptions.ts"
import * as CompiledValidator from "./CompiledValidator.ts"
import * as JsonValue from "./JsonValue.ts"
import * as OperationError from "./OperationError.ts"
import type { OperationInput, OperationOutput, OwnOperation } from "./OwnOperation.ts"
import * as OwnOutput from "./OwnOutput.ts"
import * as OwnSchemas from "./OwnSchemas.ts"
import * as Pets from "./Pets.ts"
import type { Validator } from "./Validator.ts"

/** What all operations of a host receive. */
type Tools = Pick<OperationInput, "error" | "pets">

interface Environment extends Tools {
  readonly strict: boolean
}

/** Creates the operations; fails with `InvalidOption` if a validator cannot be used. */
export const make = Effect.fnUntraced(function* (
  operations: ReadonlyArray<OwnOperation>,
  { errors, strict }: Pick<ServiceOptions, "errors" | "strict">
): Effect.fn.Return<ReadonlyArray<Operation.Operation>, InvalidOption, PetRepository> {
  const pets = Pets.make(Effect.runPromiseWith(yield* Effect.context<PetRepository>()))
  const error = OperationError.makerOf(OwnErrors.ofOperations(errors))
  return yield* Effect.fromResult(
    Result.all(operations.map((operation) => makeOne(operation, { pets, error, strict })))
  )
})

const makeOne = (
  own: OwnOperation,
  environment: Environment
): Result.Result<Operation.Operation, InvalidOption> => {
  const compile = (part: string, validator: Validator | undefined) =>
    validator === undefined
      ? Result.succeed(undefined)
      : Result.try({
          try: () => CompiledValidator.compile(validator),
          catch: (error) => invalid(own, `${part}: ${error instanceof Error ? error.message : error}`)
        })
  return Result.flatMap(
    Result.all({
      query: compile("query", own.query),
      body: compile("body", own.body),
      response: compile("success.body", own.success.body)
    }),
    (validators) => toOperation(own, validators, environment)
  )
}

const invalid = ({ id }: OwnOperation, reason: string): InvalidOption =>
  new InvalidOption({ option: "operations", reason: `${id}: ${reason}` })

interface Validators {
  readonly query: CompiledValidator.CompiledValidator | undefined
  readonly body: CompiledValidator.CompiledValidator | undefined
  readonly response: CompiledValidator.CompiledValidator | undefined
}

const toOperation = (
  own: OwnOperation,
  validators: Validators,
  { strict, ...tools }: Environment
): Result.Result<Operation.Operation, InvalidOption> => {
  const name = own.id.charAt(0).toUpperCase() + own.id.slice(1)
  const query = OwnSchemas.placeQuery(`${name}Query`, validators.query?.describe("input"))
  if (strict && validators.query !== undefined && query === undefined) {
    return Result.fail(
      invalid(own, "query: with strict, the validator must have a JSON Schema that lists the parameters")
    )
  }
  if (validators.response !== undefined && OwnOutput.isEmpty(own.success.status)) {
    return Result.fail(invalid(own, `success: a response with status ${own.success.status} has no body`))
  }
  const body = OwnSchemas.place(`${name}Body`, validators.body?.describe("input"))
  const response = OwnSchemas.place(`${name}Response`, validators.response?.describe("output"))
  const run = runner(own, validators, query, tools)
  return Result.succeed(
    Operation.make({
      id: own.id,
      method: own.method,
      path: own.path,
      summary: own.summary ?? own.id,
      description: own.description ?? "",
      tag: own.path.split("/")[1] ?? "",
      schemas: { ...query?.components, ...body.components, ...response.components },
      pathParameters: Object.fromEntries(
        [...own.path.matchAll(/\{([^}]*)\}/g)].map(([, parameter = ""]) => [
          parameter,
          { description: `The ${parameter} in the path.`, schema: { type: "string" } }
        ])
      ),
      query: parametersOf(query),
      ...(validators.body === undefined
        ? {}
        : { body: { description: "The body", schema: body.schema, examples: {}, decode: JsonBody.parse } }),
      success: successOf(own, validators.response === undefined ? undefined : response.schema),
      errors: own.errors ?? [],
      cost: own.cost ?? 1,
      isUninterruptible: true,
      ...(own.idempotent ? { fingerprint: JsonValue.canonical, storesResponse: true } : {}),
      run
    })
  )
}

const parametersOf = (query: OwnSchemas.PlacedQuery | undefined): QueryParameters.QueryParameters =>
  Object.fromEntries(
    (query?.parameters ?? []).map(({ isRequired, name, schema }) => [
      name,
      {
        description: typeof schema.description === "string" ? schema.description : "",
        schema,
        ...(isRequired ? { required: true as const } : {}),
        decode: (text: string | undefined) => Result.succeed(text)
      }
    ])
  )

const successOf = (
  { success: { description = "The request succeeded.", status } }: OwnOperation,
  schema: Json.EncodableObject | undefined
): Operation.Success =>
  // The cast is safe: the rule of the option allows only statuses of success.
  schema === undefined
    ? { status: (status ?? 204) as 204, description }
    : { status: (status ?? 200) as 200, description, schema, examples: {} }

type CoreInput = Operation.Input<{ readonly [name: string]: unknown }, Json.Json | undefined>

/** Creates the function that validates the input, runs the operation, and validates and encodes its output. */
const runner = (
  own: OwnOperation,
  validators: Validators,
  described: OwnSchemas.PlacedQuery | undefined,
  tools: Tools
): ((input: CoreInput) => Effect.Effect<Operation.Output & { readonly body: string }, Operation.Failure>) =>
  Effect.fnUntraced(function* (input: CoreInput) {
    const query = yield* validateQuery(input, validators.query, described)
    const body = yield* validateBody(input, validators.body)
    const returned = yield* call(own, {
      params: input.path,
      query,
      body,
      caller: callerOf(input.key),
      header: (name) => input.header(name.toLowerCase()),
      now: input.now,
      ...tools
    })
    return yield* toOutput(own, returned, validators.response)
  })

const validateQuery = (
  { queryText }: CoreInput,
  validator: CompiledValidator.CompiledValidator | undefined,
  described: OwnSchemas.PlacedQuery | undefined
): Effect.Effect<unknown, ApiError.ApiError> => {
  if (validator === undefined) return Effect.succeed(undefined)
  const values = valuesOf(queryText, described?.parameters ?? [])
  if (values === undefined) {
    return Effect.fail(ApiError.make("invalid_parameter", "The query string contains a repeated parameter."))
  }
  return Effect.mapError(validator.validate(values), (reasons) =>
    ApiError.make("invalid_parameter", `The query is invalid: ${reasons.join("; ")}.`)
  )
}

/** Returns the parameters of a query, also those that the validator does not list; `undefined` if one is repeated. */
const valuesOf = (query: string, described: OwnSchemas.PlacedQuery["parameters"]): object | undefined => {
  const pairs = QueryString.parse(query) ?? []
  const typesOf = (name: string) => described.find((parameter) => parameter.name === name)?.types ?? []
  const values = Object.fromEntries(
    pairs.map(({ name, value }) => [name, JsonValue.ofText(value, typesOf(name))])
  )
  return Object.keys(values).length === pairs.length ? values : undefined
}

const validateBody = (
  { body }: CoreInput,
  validator: CompiledValidator.CompiledValidator | undefined
): Effect.Effect<unknown, ApiError.ApiError> => {
  if (validator === undefined || body === undefined) return Effect.succeed(undefined)
  const overflow = JsonValue.findOverflow(body)
  return overflow === undefined
    ? Effect.mapError(validator.validate(JsonValue.toPlain(body)), JsonBody.invalid)
    : Effect.fail(JsonBody.invalid([`${overflow || "the number"}: is beyond the range of a double`]))
}

/** Calls the function of the host; what it throws is a failure only if it chooses a response, otherwise a defect. */
const call = (
  { id, run }: OwnOperation,
  input: OperationInput
): Effect.Effect<OperationOutput, Operation.Failure> =>
  Effect.catch(
    Effect.tryPromise({
      // The casts are safe: `defineOperation` derives the types of `run` from what was validated.
      try: async () => ((await run(input as never)) ?? {}) as OperationOutput,
      catch: (error) => error
    }),
    (error): Effect.Effect<never, Operation.Failure> => {
      if (error instanceof OperationError.OperationError) return Effect.fail(OperationError.toApiError(error))
      if (error instanceof StoreUnavailable) return Effect.fail(error)
      // Only an `Error` has a stack, which shows where it was thrown.
      return Effect.die(error instanceof Error ? error : new Error(`${id} threw ${String(error)}`))
    }
  )

const toOutput = (
  own: OwnOperation,
  output: OperationOutput,
  validator: CompiledValidator.CompiledValidator | undefined
): Effect.Effect<Operation.Output & { readonly body: string }> => {
  const { body, headers = {}, status } = output
  const problem = OwnOutput.problemOf(output, validator !== undefined)
  if (problem !== undefined) return Effect.die(new Error(`${own.id} returned ${problem}`))
  const validated = validator === undefined ? Effect.succeed(undefined) : validator.validate(body)
  return Effect.matchEffect(validated, {
    onFailure: (reasons) =>
      Effect.die(new Error(`${own.id} returned an invalid body: ${reasons.join("; ")}`)),
    onSuccess: (valid) =>
      Effect.succeed({
        status,
        headers: Object.entries(headers),
        body: validator === undefined ? "" : JsonValue.encode(valid)
      })
  })
}
