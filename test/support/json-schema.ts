import { Ajv2020, type Options } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'

/*
 * Validators of JSON Schema that are not those of the app.
 */

const schemaOfSchemas = new Ajv2020({ strict: false })

/** A new validator. All check their schemas with one instance, because compiling the schema of schemas takes longer than a test. */
export function newAjv(options: Options = {}): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, logger: false, ...options })
  ajv.validateSchema = schemaOfSchemas.validateSchema.bind(schemaOfSchemas)
  return ajv
}

/** A new validator that knows the formats of JSON Schema; it ignores others. */
export function newAjvWithFormats(options: Options = {}): Ajv2020 {
  return ajvFormats.default(newAjv(options))
}
