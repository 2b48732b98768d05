import { messageOf } from '../../core/to-error.js'
import { isRecord } from '../../core/records.js'
import { BootError } from '../../core/boot-error.js'
import { loadLater, memo } from '../../core/memo.js'
import type { Direction } from '../shape/shape.js'
import { jsonSchemaOf, type StandardSchema } from '../shape/standard-schema.js'
import { type JsonSchema, mapSubschemas, resolveReference, toJsonSchema } from '../shape/subschemas.js'

const ROOT = 'root'

const ajvLibrary = loadLater<typeof import('ajv/dist/2020.js')>('ajv/dist/2020.js')

/** Whether JSON fits a schema. It may have properties that the schema does not list. */
type Fits = (json: unknown) => boolean

/** Makes validators of the parts of a JSON Schema, whose references are from its root. */
export function validatorsOf(root: JsonSchema): (part: JsonSchema) => Fits {
  const ajv = memo(() =>
    new (ajvLibrary().Ajv2020)({ strict: false, validateFormats: false, logger: false }).addSchema(opened(root), ROOT),
  )
  return (part) => ajv().compile(opened(part))
}

// A value that is yet to be reduced fits a schema although it has more properties. References are from the root, which has a name in ajv.
function opened(schema: JsonSchema): JsonSchema {
  const { additionalProperties: additional, unevaluatedProperties: unevaluated, $id: _, $ref, ...rest } = schema
  return {
    ...mapSubschemas(rest, opened),
    ...(isRecord(additional) ? { additionalProperties: opened(additional) } : {}),
    ...(isRecord(unevaluated) ? { unevaluatedProperties: opened(unevaluated) } : {}),
    ...(typeof $ref === 'string' ? { $ref: ROOT + $ref } : {}),
  }
}

/** Keywords that may list properties, and that are not followed. */
const NOT_FOLLOWED = ['$dynamicRef', '$recursiveRef', 'dependencies', 'unevaluatedItems', 'additionalItems'] as const

const usable = { input: new WeakMap<StandardSchema, JsonSchema>(), output: new WeakMap<StandardSchema, JsonSchema>() }

/**
 * The JSON Schema of a library, checked once: at startup instead of with the first value.
 *
 * @throws BootError when the library writes none, or the properties that it lists cannot be known.
 */
export function usableJsonSchemaOf(schema: StandardSchema, direction: Direction): JsonSchema {
  const known = usable[direction].get(schema)
  if (known) return known
  const json = jsonSchemaOf(schema, direction)
  refuseUnusable(json)
  usable[direction].set(schema, json)
  return json
}

/**
 * Refuses a JSON Schema whose listed properties cannot be known.
 *
 * @throws BootError when it is invalid, or has references to other schemas or keywords that are not followed.
 */
function refuseUnusable(root: JsonSchema): void {
  const validatorOf = validatorsOf(root)
  const refusePart = (part: JsonSchema): JsonSchema => {
    const keyword = NOT_FOLLOWED.find((one) => typeof part[one] === 'string' || isRecord(part[one]))
    if (keyword !== undefined)
      throw new BootError(
        `a JSON Schema has ${keyword}, which is not supported: the properties that it lists are not known. Write $ref, properties or items instead.`,
      )
    if (Array.isArray(part['items']))
      throw new BootError('a JSON Schema has a list as its items, as in older drafts. Write prefixItems instead.')
    resolveReference(root, part)
    const { anyOf, oneOf, if: condition, patternProperties } = part
    const chosen = [anyOf ?? [], oneOf ?? [], condition ?? []].flat()
    try {
      for (const one of chosen) validatorOf(toJsonSchema(one))
      Object.keys(toJsonSchema(patternProperties)).map((pattern) => new RegExp(pattern, 'u'))
    } catch (cause) {
      const reason = messageOf(cause)
      throw new BootError(
        `a JSON Schema is invalid: ${reason}. Correct it, or the schema of the library that wrote it.`,
        {
          cause,
        },
      )
    }
    return mapSubschemas(part, refusePart)
  }
  refusePart(root)
}
