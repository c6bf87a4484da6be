/** Generates the JSON Schema of a conformance configuration file. */
import * as Schema from "effect/Schema"
import { Configuration } from "../conformance/config/Configuration.ts"

export const path = new URL("conformance/config.schema.json", import.meta.url)

export const render = (): string => {
  const { definitions, schema } = Schema.toJsonSchemaDocument(Configuration, { onExcessProperty: "error" })
  const document = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Configuration of animal-store conformance",
    ...schema,
    ...(Object.keys(definitions).length === 0 ? {} : { $defs: definitions })
  }
  return `${JSON.stringify(document, null, 2)}\n`
}
