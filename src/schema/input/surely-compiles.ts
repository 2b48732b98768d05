import { isRecord } from '../../core/records.js'
import { FORMAT_NAMES } from '../shape/formats.js'
import { type JsonSchema } from '../shape/subschemas.js'

/*
 * Which schemas need not be compiled at startup to know that they can be. Only schemas that are certainly valid are recognized: for all others,
 * compiling it says what is wrong.
 */

type Components = ReadonlyMap<string, JsonSchema>

/** A condition on the value of a keyword. */
type Rule = (value: unknown, schemas: KnownSchemas, parent: JsonSchema) => boolean

/** Recognizes schemas that ajv compiles, of which the components are referred to with this prefix. */
export class KnownSchemas {
  readonly #components: Components
  readonly #prefix: string
  readonly #known = new WeakSet<JsonSchema>()

  constructor(components: Components, prefix: string) {
    this.#components = components
    this.#prefix = prefix
  }

  /** Whether a schema surely compiles if the components do. */
  has(schema: unknown): boolean {
    if (!isOwnJson(schema)) return false
    if (this.#known.has(schema)) return true
    for (const keyword in schema) {
      const value = schema[keyword]
      if (value !== undefined && RULES[keyword]?.(value, this, schema) !== true) return false
    }
    this.#known.add(schema)
    return true
  }

  /** The component that a schema refers to, if it does nothing else. */
  referred({ $ref, ...others }: JsonSchema): JsonSchema | undefined {
    return typeof $ref === 'string' && Object.keys(others).length === 0 ? this.component($ref) : undefined
  }

  component(reference: string): JsonSchema | undefined {
    return reference.startsWith(this.#prefix) ? this.#components.get(reference.slice(this.#prefix.length)) : undefined
  }
}

const TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'number', 'boolean', 'object', 'array', 'null'])

const isText: Rule = (value) => typeof value === 'string'
const isFlag: Rule = (value) => typeof value === 'boolean'
const isNumber: Rule = (value) => Number.isFinite(value)
const isCount: Rule = (value) => Number.isSafeInteger(value) && Number(value) >= 0
const isSchema: Rule = (value, schemas) => schemas.has(value)
const areSchemas: Rule = (value, schemas) =>
  Array.isArray(value) && value.length > 0 && value.every((one) => schemas.has(one))

// By name; without a prototype, because a schema may have any names.
const RULES: Readonly<Record<string, Rule>> = Object.assign(Object.create(null), {
  type: (value) => (Array.isArray(value) ? value.length > 0 && areUnique(value) && value.every(isType) : isType(value)),
  minLength: isCount,
  maxLength: isCount,
  pattern: isPattern,
  format: (value) => FORMAT_NAMES.has(value),
  minimum: isNumber,
  maximum: isNumber,
  exclusiveMinimum: isNumber,
  exclusiveMaximum: isNumber,
  multipleOf: (value) => Number.isFinite(value) && Number(value) > 0,
  enum: (value) => Array.isArray(value) && value.length > 0 && areUnique(value) && value.every(isScalar),
  checks: (value) => Array.isArray(value) && value.every((one) => typeof one === 'number'),
  contentEncoding: isText,
  items: isSchema,
  minItems: isCount,
  maxItems: isCount,
  properties: (value, schemas) => isOwnJson(value) && Object.values(value).every((one) => schemas.has(one)),
  required: (value) => Array.isArray(value) && areUnique(value) && value.every((one) => typeof one === 'string'),
  additionalProperties: (value, schemas) => typeof value === 'boolean' || schemas.has(value),
  maxProperties: isCount,
  allOf: areSchemas,
  anyOf: areSchemas,
  oneOf: areSchemas,
  $ref: (value, schemas) => typeof value === 'string' && schemas.component(value) !== undefined,
  discriminator: isDiscriminator,
  title: isText,
  description: isText,
  deprecated: isFlag,
  readOnly: isFlag,
  writeOnly: isFlag,
  default: isPlainJson,
  examples: (value) => Array.isArray(value) && value.every(isPlainJson),
} satisfies Record<string, Rule>)

function isType(value: unknown): boolean {
  return TYPES.has(value)
}

function isScalar(value: unknown): boolean {
  return value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
}

function isPlainJson(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isPlainJson)
  return isScalar(value) || (isOwnJson(value) && Object.values(value).every(isPlainJson))
}

function isOwnJson(value: unknown): value is JsonSchema {
  return isRecord(value) && Object.getPrototypeOf(value) === Object.prototype && typeof value['toJSON'] !== 'function'
}

function areUnique(values: readonly unknown[]): boolean {
  return new Set(values).size === values.length
}

const patterns = new Set<unknown>()

function isPattern(value: unknown): boolean {
  if (typeof value !== 'string') return false
  if (patterns.has(value)) return true
  try {
    patterns.add(new RegExp(value, 'u').source && value)
    return true
  } catch {
    return false
  }
}

/** Whether each class of a union requires the property that tells them apart, and has values of its own for it. */
function isDiscriminator(value: unknown, schemas: KnownSchemas, { oneOf }: JsonSchema): boolean {
  const name = isRecord(value) ? value['propertyName'] : undefined
  if (typeof name !== 'string' || !Array.isArray(oneOf)) return false
  const tags: unknown[] = []
  for (const option of oneOf) {
    const { properties, required } = (isRecord(option) && schemas.referred(option)) || {}
    const property = isRecord(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
    if (!isRecord(property) || !Array.isArray(property['enum'])) return false
    if (!Array.isArray(required) || !required.includes(name)) return false
    tags.push(...property['enum'])
  }
  return areUnique(tags) && tags.every((tag) => typeof tag === 'string' && !(tag in Object.prototype))
}
