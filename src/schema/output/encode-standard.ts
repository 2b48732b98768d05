import { ignoreRejections, isThenable } from '../../core/promises.js'
import { memo } from '../../core/memo.js'
import type { JsonSchema } from '../shape/shape.js'
import { type StandardSchema, toIssues, writtenJsonSchema } from '../shape/standard-schema.js'
import { encodeAny } from './encode-any.js'
import { usableJsonSchemaOf } from './json-schema-validator.js'
import { compileKeepListed } from './listed-properties.js'
import { refuseMismatch, ResponseMismatchError } from './response-mismatch.js'

/** Encodes by a schema of another library. `checks`: whether values must also meet the constraints of its JSON Schema. */
export function standardEncoder(schema: StandardSchema, checks: boolean): (value: unknown) => unknown {
  const jsonSchema = checks ? usableJsonSchemaOf : writtenJsonSchema
  // Without a JSON Schema it is an input whose default is encoded.
  const keepListed = memo(() => compileKeepListed(jsonSchema(schema, 'output') ?? {}, 'output', encodeTyped))
  return (value) => {
    const result = schema['~standard'].validate(value)
    if (isThenable(result)) {
      ignoreRejections(result)
      throw new TypeError(
        `A response is declared by a schema of ${schema['~standard'].vendor} that validates asynchronously. Validate the value before you return it, and declare a schema without asynchronous checks.`,
      )
    }
    if (!result.issues) return keepListed()(result.value)
    const [issue] = toIssues(result.issues)
    throw new ResponseMismatchError(issue?.path ?? '', issue?.message ?? 'does not fit')
  }
}

/** The type of a JSON value in JSON Schema. */
function typeOf(json: unknown): string {
  if (typeof json !== 'object') return typeof json
  return json === null ? 'null' : Array.isArray(json) ? 'array' : 'object'
}

// A library may accept values that its JSON Schema does not have.
function encodeTyped(value: unknown, schemas: readonly JsonSchema[]): unknown {
  const json = value === null || typeof value === 'number' ? value : encodeAny(value)
  for (const { type } of schemas) {
    const types = type === undefined ? [] : [type].flat()
    const fits = types.includes(typeOf(json)) || (types.includes('integer') && Number.isInteger(json))
    if (types.length > 0 && !(fits && (typeof json !== 'number' || Number.isFinite(json))))
      refuseMismatch(value, types.join(' or '))
  }
  return typeof json === 'number' ? encodeAny(json) : json
}
