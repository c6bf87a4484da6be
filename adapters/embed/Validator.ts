/** Defines validators, which are JSON Schemas or have the Standard Schema interface, and the types of their values. */
import type { StandardSchemaV1 } from "effect/StandardSchema"

/**
 * A validator: any that has the Standard Schema interface, as those of zod, valibot and ArkType, or a JSON Schema (draft
 * 2020-12).
 */
export type Validator =
  | StandardSchemaV1
  | { readonly "~standard"?: never; readonly [keyword: string]: unknown }

/** The values that a validator accepts. A returned integer may be a bigint, which is sent as a number. */
export type InputOf<V> = V extends StandardSchemaV1
  ? StandardSchemaV1.InferInput<V>
  : ValueOf<V, number | bigint>

/** The values that a validator returns. */
export type OutputOf<V> = V extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<V> : ValueOf<V, number>

/** The values of a JSON Schema, from its `type`, `properties`, `items`, `enum` and `const`. */
type ValueOf<S, Integer> = S extends undefined
  ? undefined
  : S extends { readonly const: infer Value }
    ? Value
    : S extends { readonly enum: ReadonlyArray<infer Value> }
      ? Value
      : S extends { readonly type: "integer" }
        ? Integer
        : S extends { readonly type: keyof Scalars }
          ? Scalars[S["type"]]
          : S extends { readonly type: ReadonlyArray<infer Type> }
            ? ValueOf<{ readonly type: Type }, Integer>
            : S extends { readonly type: "array" }
              ? ReadonlyArray<S extends { readonly items: infer Item } ? ValueOf<Item, Integer> : unknown>
              : S extends { readonly type: "object"; readonly properties: infer Properties }
                ? ObjectOf<
                    Properties,
                    S extends { readonly required: ReadonlyArray<infer Name> } ? Name : never,
                    Integer
                  >
                : unknown

type Scalars = {
  readonly string: string
  readonly number: number
  readonly boolean: boolean
  readonly null: null
}

type ObjectOf<Properties, Required, Integer> = {
  readonly [Name in keyof Properties as Name extends Required ? Name : never]: ValueOf<
    Properties[Name],
    Integer
  >
} & {
  readonly [Name in keyof Properties as Name extends Required ? never : Name]?: ValueOf<
    Properties[Name],
    Integer
  >
}

/** Returns whether a value can be a validator. */
export const isValidator = (value: unknown): value is Validator =>
  (typeof value === "object" || typeof value === "function") &&
  value !== null &&
  ("~standard" in value ? isStandard(value) : isPlain(value))

/** Returns whether a value is an object without a class, as JSON Schemas are; validators of some libraries are not. */
const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** Returns whether a value has the Standard Schema interface. */
export const isStandard = (value: object): value is StandardSchemaV1 =>
  "~standard" in value &&
  typeof value["~standard"] === "object" &&
  value["~standard"] !== null &&
  "validate" in value["~standard"]
