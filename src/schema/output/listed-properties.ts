import { isRecord } from '../../core/records.js'
import { memo } from '../../core/memo.js'
import { valueOf, isInherited } from '../shape/inherited-names.js'
import type { Direction, JsonSchema } from '../shape/shape.js'
import { resolveReference, toJsonSchema } from '../shape/subschemas.js'
import { validatorsOf } from './json-schema-validator.js'
import { isPlain } from './untyped-value.js'
import { refuseMismatch, ResponseMismatchError } from './response-mismatch.js'

/** Returns a value without the properties that its JSON Schema does not list. */
export type KeepListed = (value: unknown) => unknown

/** The treatment of a part that has no listed properties: a string, or an object with any properties. */
type Leaf = (value: unknown, schemas: readonly JsonSchema[]) => unknown

/**
 * Compiles what keeps the listed properties of values, as libraries let others through. Of an input, unlisted properties stay where the
 * schema forbids them, so that the library reports them; a value that fits no schema of a union is returned unchanged.
 *
 * @param leaf converts the parts without listed properties.
 */
export function compileKeepListed(root: JsonSchema, direction: Direction, leaf: Leaf): KeepListed {
  return new KeepListedCompiler(root, direction, leaf).compile(root)
}

const UNIONS = ['anyOf', 'oneOf'] as const

class KeepListedCompiler {
  readonly #root: JsonSchema
  readonly #direction: Direction
  readonly #leaf: Leaf
  readonly #validatorOf: (part: JsonSchema) => (json: unknown) => boolean

  constructor(root: JsonSchema, direction: Direction, leaf: Leaf) {
    this.#root = root
    this.#validatorOf = validatorsOf(root)
    this.#direction = direction
    this.#leaf = leaf
  }

  // Compiled when a value first comes: schemas refer to themselves.
  compile(schema: JsonSchema): KeepListed {
    const keep = memo(() => this.#ofSchemas(this.#allOf(schema)))
    return (value) => keep()(value)
  }

  /** The schemas that all apply to a value of a schema. */
  #allOf(schema: JsonSchema): readonly JsonSchema[] {
    const definition = resolveReference(this.#root, schema)
    const { allOf } = schema
    const others = [...(definition ? [definition] : []), ...(Array.isArray(allOf) ? allOf.map(toJsonSchema) : [])]
    return [schema, ...others.flatMap((other) => this.#allOf(other))]
  }

  #ofSchemas(schemas: readonly JsonSchema[]): KeepListed {
    for (const keyword of UNIONS)
      for (const schema of schemas) {
        const { [keyword]: options, ...rest } = schema
        if (Array.isArray(options))
          return this.#ofUnion(options.map(toJsonSchema), [...schemas.filter((one) => one !== schema), rest])
      }
    for (const schema of schemas) {
      if ('if' in schema && ('then' in schema || 'else' in schema)) return this.#ofCondition(schema, schemas)
      if ('dependentSchemas' in schema) return this.#ofDependents(schema, schemas)
    }
    const ofObject = schemas.some(describesObject) ? this.#ofObject(schemas) : undefined
    const ofList = schemas.some((schema) => 'items' in schema || 'prefixItems' in schema)
      ? this.#ofList(schemas)
      : undefined
    return (value) => {
      const isList = Array.isArray(value)
      if (isList && ofList) return ofList(value)
      if (ofObject && typeof value === 'object' && value !== null && !isList) return ofObject(value)
      const json = this.#leaf(value, schemas)
      // The result of a toJSON().
      return !isList && ofList && Array.isArray(json) ? ofList(json) : json
    }
  }

  #ofCondition(schema: JsonSchema, schemas: readonly JsonSchema[]): KeepListed {
    const { if: condition, then = {}, else: otherwise = {}, ...rest } = schema
    const others = [...schemas.filter((one) => one !== schema), rest]
    const fits = memo(() => this.#validatorOf(toJsonSchema(condition)))
    const [keepThen, keepElse] = [[condition, then], [otherwise]].map((parts) =>
      memo(() => this.#ofSchemas([...others, ...parts.flatMap((part) => this.#allOf(toJsonSchema(part)))])),
    ) as [() => KeepListed, () => KeepListed] // map() keeps the number of items
    return (value) => (fits()(this.#jsonOf(value)) ? keepThen : keepElse)()(value)
  }

  /** The same as a condition for each property. */
  #ofDependents({ dependentSchemas, ...rest }: JsonSchema, schemas: readonly JsonSchema[]): KeepListed {
    const others = schemas.filter((one) => one['dependentSchemas'] !== dependentSchemas)
    const conditions = Object.entries(toJsonSchema(dependentSchemas)).map(([name, then]) => ({
      if: { type: 'object', required: [name] },
      // A keyword of JSON Schema.
      // oxlint-disable-next-line unicorn/no-thenable
      then,
    }))
    return this.#ofSchemas([...others, rest, ...conditions])
  }

  #jsonOf(value: unknown): unknown {
    return this.#direction === 'input' ? value : asJson(value)
  }

  /** Chooses among several schemas that a value fits the one that keeps most of it; one that allows anything only if there is no other. */
  #ofUnion(options: readonly JsonSchema[], others: readonly JsonSchema[]): KeepListed {
    const compiled = options.map((option) => {
      const schemas = this.#allOf(option)
      return {
        isSpecific: schemas.some((schema) => Object.keys(schema).length > 0),
        fits: memo(() => this.#validatorOf(option)),
        keep: memo(() => this.#ofSchemas([...others, ...schemas])),
      }
    })
    return (value) => {
      const json = this.#jsonOf(value)
      const fitting = compiled.filter(({ fits }) => fits()(json))
      const specific = fitting.filter(({ isSpecific }) => isSpecific)
      const kept = (specific.length > 0 ? specific : fitting).map(({ keep }) => keep()(value))
      if (kept.length > 0) return kept.reduce((most, one) => (sizeOf(one) > sizeOf(most) ? one : most))
      return this.#direction === 'input' ? value : refuseMismatch(value, 'one of several schemas, of which none fits')
    }
  }

  #ofList(schemas: readonly JsonSchema[]): (list: readonly unknown[]) => unknown {
    const rest = this.#together(schemas.flatMap(({ items }) => (items === undefined ? [] : [items])))
    const most = Math.max(...schemas.map(({ prefixItems }) => (Array.isArray(prefixItems) ? prefixItems.length : 0)))
    const first = Array.from({ length: most }, (_, index) =>
      this.#together(
        schemas.flatMap(
          ({ prefixItems, items }) => (Array.isArray(prefixItems) ? prefixItems[index] : undefined) ?? items ?? [],
        ),
      ),
    )
    // Array.from(), as map() would skip the holes of a sparse array.
    return (list) => Array.from(list, (item, index) => at(index, () => (first[index] ?? rest)(item)))
  }

  #ofObject(schemas: readonly JsonSchema[]): (value: object) => unknown {
    const names = new Set(schemas.flatMap(({ properties }) => Object.keys(toJsonSchema(properties))))
    const listed = [...names].map((name) => ({
      name,
      inherited: isInherited(name),
      keep: this.#together(schemas.flatMap(({ properties }) => valueOf(toJsonSchema(properties), name, true) ?? [])),
    }))
    const keepOther = this.#others(schemas)
    const keep = (value: object): unknown => {
      const plain = isPlain(value)
      // Only the listed properties of an instance of a class are known to be public.
      if (!plain && (this.#direction === 'input' || names.size === 0)) {
        const json = this.#leaf(value, schemas)
        return json !== value && isRecord(json) ? keep(json) : json // the result of a toJSON()
      }
      if (value instanceof Promise) return refuseMismatch(value, 'object')
      const source = value as Readonly<Record<string, unknown>> // an object has its properties by name
      const kept: [string, unknown][] = []
      for (const { name, inherited, keep } of listed) {
        const property = valueOf(source, name, inherited)
        if (property !== undefined) kept.push([name, at(name, () => keep(property))])
      }
      for (const name of plain ? Object.keys(value) : []) {
        const keep = names.has(name) || source[name] === undefined ? undefined : keepOther(name)
        if (keep) kept.push([name, at(name, () => keep(source[name]))])
      }
      return Object.fromEntries(kept)
    }
    return keep
  }

  /** The function that keeps the properties that are not listed by name; undefined for those that are not kept. */
  #others(schemas: readonly JsonSchema[]): (name: string) => KeepListed | undefined {
    const patterns = schemas.flatMap(({ patternProperties }) =>
      Object.entries(toJsonSchema(patternProperties)).map(([source, schema]) => ({
        expression: new RegExp(source, 'u'),
        keep: this.compile(toJsonSchema(schema)),
      })),
    )
    const additional = schemas.flatMap((schema) => this.#additional(schema))
    const keep = additional.length > 0 ? this.#together(additional) : undefined
    return (name) => patterns.find(({ expression }) => expression.test(name))?.keep ?? keep
  }

  #additional({ additionalProperties: additional, unevaluatedProperties }: JsonSchema): readonly JsonSchema[] {
    const given = additional ?? unevaluatedProperties
    if (given === false) return this.#direction === 'input' ? [{}] : []
    return given === undefined ? [] : [toJsonSchema(given)]
  }

  #together(schemas: readonly unknown[]): KeepListed {
    const [only = {}] = schemas
    return this.compile(schemas.length > 1 ? { allOf: schemas } : toJsonSchema(only))
  }
}

function at(key: string | number, keep: () => unknown): unknown {
  try {
    return keep()
  } catch (error) {
    throw ResponseMismatchError.at(key, error)
  }
}

function describesObject(schema: JsonSchema): boolean {
  return ['properties', 'patternProperties', 'additionalProperties', 'unevaluatedProperties'].some(
    (keyword) => keyword in schema,
  )
}

// A bigint is a string here: JSON.stringify() would throw, and the part of the schema that is for it refuses it with its path.
function asJson(value: unknown): unknown {
  const text = JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? String(part) : part))
  return text === undefined ? undefined : JSON.parse(text)
}

function sizeOf(json: unknown): number {
  return JSON.stringify(json)?.length ?? 0
}
