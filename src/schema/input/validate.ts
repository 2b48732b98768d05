import type { Ajv2020, ErrorObject, ValidateFunction } from 'ajv/dist/2020.js'
import { loadLater, memo } from '../../core/memo.js'
import { escapePointer, type Issue, MAX_ISSUES } from '../shape/issue.js'
import { ANY_BUT_NULL, type JsonSchema } from '../shape/shape.js'
import { KEYWORDS } from './keywords.js'
import { KnownSchemas } from './surely-compiles.js'

/** Returns all issues of a value; of a large value, which could have hundreds of thousands, only the first. */
export type Validate = (value: unknown, isLarge?: boolean) => readonly Issue[]

const NONE: readonly Issue[] = []

const ajvLibrary = loadLater<typeof import('ajv/dist/2020.js')>('ajv/dist/2020.js')

/** With what references to components begin in schemas to compile: each component has an address of its own. */
export const COMPONENT = 'component:_'

/**
 * Compiles validators that share the components of one app: each component is compiled once, at its first use.
 *
 * @throws the error of ajv for a component that cannot be compiled.
 */
export class ValidatorCompiler {
  readonly #known: KnownSchemas
  readonly #all: () => Ajv2020
  // Compiled when a large value arrives, which most routes never receive.
  readonly #first: () => Ajv2020

  constructor(components: ReadonlyMap<string, JsonSchema>) {
    this.#known = new KnownSchemas(components, COMPONENT)
    this.#all = memo(() => newAjv({ allErrors: true }, components))
    this.#first = memo(() => newAjv({ allErrors: false }, components))
    for (const [name, schema] of components) if (!this.#known.has(schema)) this.#all().getSchema(COMPONENT + name)
  }

  /** Compiles at the first value. @throws the error of ajv for a schema that cannot be compiled. */
  compile(schema: JsonSchema): Validate {
    let all: ValidateFunction | undefined
    let first: ValidateFunction | undefined
    if (!this.#known.has(schema)) {
      const throws = true
      checker().validateSchema(withoutMappings(schema), throws)
      all = this.#all().compile(withoutMappings(schema))
    }
    return (value, isLarge = false) => {
      const validate = isLarge
        ? (first ??= this.#first().compile(withoutMappings(schema)))
        : (all ??= this.#all().compile(withoutMappings(schema)))
      return validate(value) ? NONE : issues(validate)
    }
  }
}

// ajv reads the values of a discriminator from the schemas of the classes, and throws for a `mapping`.
function withoutMappings(schema: JsonSchema): JsonSchema {
  const text = JSON.stringify(schema, (_, part: unknown) =>
    isDiscriminator(part) ? { propertyName: part.propertyName } : part,
  )
  return JSON.parse(text)
}

function isDiscriminator(part: unknown): part is { readonly propertyName: string } {
  // A class may have properties with these names. Their schemas are objects, not strings.
  return (
    typeof part === 'object' &&
    part !== null &&
    'mapping' in part &&
    'propertyName' in part &&
    typeof part.propertyName === 'string'
  )
}

/** Checks schemas by the schema of JSON Schema. Made for the first one that may be wrong. */
const checker = memo(() => {
  const ajv = new (ajvLibrary().Ajv2020)({ strict: false })
  for (const keyword of KEYWORDS) ajv.removeKeyword(keyword.keyword).addKeyword(keyword)
  return ajv
})

function newAjv(options: { readonly allErrors: boolean }, components: ReadonlyMap<string, JsonSchema>): Ajv2020 {
  // strict: false allows keywords that are not of JSON Schema, such as `discriminator`.
  // ownProperties: a field may be named 'toString', which every object inherits.
  // multipleOfPrecision: 0.07 is a multiple of 0.01, although 0.07 / 0.01 is 7.000000000000001.
  // meta, validateSchema: schemas are checked before; compiling the schema of schemas takes longer than a route's.
  // inlineRefs: a component is compiled once, and not for each reference to it.
  const ajv = new (ajvLibrary().Ajv2020)({
    ...options,
    discriminator: true,
    strict: false,
    ownProperties: true,
    multipleOfPrecision: 9,
    meta: false,
    validateSchema: false,
    inlineRefs: false,
    addUsedSchema: false,
  })
  for (const keyword of KEYWORDS) ajv.removeKeyword(keyword.keyword).addKeyword(keyword)
  for (const [name, schema] of components) ajv.addSchema(withoutMappings(schema), COMPONENT + name)
  return ajv
}

function issues(validate: ValidateFunction): Issue[] {
  const errors = (validate.errors ?? []).filter((error) => !isConsequence(error))
  return errors.slice(0, MAX_ISSUES).map(toIssue)
}

// 'anyOf' repeats the errors of its branches; the branch 'null' exists only for `nullable`.
function isConsequence({ keyword, params }: ErrorObject): boolean {
  return keyword === 'anyOf' || (keyword === 'type' && params['type'] === 'null')
}

function toIssue(error: ErrorObject): Issue {
  const { keyword: rule, params } = error
  return { ...located(error), rule, params }
}

function located(error: ErrorObject): Issue {
  switch (error.keyword) {
    case 'required':
      return {
        path: `${error.instancePath}/${escapePointer(String(error.params['missingProperty']))}`,
        message: 'is required',
      }
    case 'discriminator':
      return {
        path: `${error.instancePath}/${escapePointer(String(error.params['tag']))}`,
        message: error.params['tagValue'] === undefined ? 'is required' : 'is not one of the known values',
      }
    case 'additionalProperties':
      return {
        path: `${error.instancePath}/${escapePointer(String(error.params['additionalProperty']))}`,
        message: 'is not a known field',
      }
    default:
      return { path: error.instancePath, message: describeIssue(error) }
  }
}

function describeIssue({ keyword, params, message }: ErrorObject): string {
  switch (keyword) {
    case 'type': {
      const types = [params['type']].flat()
      return types.length === ANY_BUT_NULL.length
        ? 'must not be null'
        : `must be ${types.map(withArticle).join(' or ')}`
    }
    case 'minLength':
      return params['limit'] === 1 ? 'must not be empty' : `must have at least ${params['limit']} characters`
    case 'maxLength':
      return `must have at most ${params['limit']} character${params['limit'] === 1 ? '' : 's'}`
    default:
      return message ?? 'is not valid'
  }
}

function withArticle(type: unknown): string {
  return type === 'null'
    ? 'null'
    : type === 'integer' || type === 'object' || type === 'array'
      ? `an ${String(type)}`
      : `a ${String(type)}`
}
