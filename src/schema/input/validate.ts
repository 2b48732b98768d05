import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import { escapePointer, type Issue } from '../shape/issue.js'
import { KEYWORDS } from './keywords.js'
import { ANY_BUT_NULL, type JsonSchema } from '../shape/shape.js'

/** Returns all issues of a value; of a large value, which could have hundreds of thousands, only the first. */
export type Validate = (value: unknown, isLarge?: boolean) => readonly Issue[]

const NONE: readonly Issue[] = []

/** The most issues in a response: more help no reader, and cost time and bandwidth. */
export const MOST_ISSUES = 100

/** Compiles validators that share the components of one app. */
export class ValidatorCompiler {
  readonly #all = newAjv({ allErrors: true })
  readonly #first = newAjv({ allErrors: false })
  readonly #components: ReadonlyMap<string, JsonSchema>

  constructor(components: ReadonlyMap<string, JsonSchema>) {
    this.#components = components
  }

  compile(schema: JsonSchema): Validate {
    const whole = withoutMappings({ ...schema, components: { schemas: Object.fromEntries(this.#components) } })
    const all = this.#all.compile(whole)
    let first: ValidateFunction | undefined // compiled when a large value arrives, which most routes never receive
    return (value, isLarge = false) => {
      const validate = isLarge ? (first ??= this.#first.compile(whole)) : all
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

function newAjv(options: { readonly allErrors: boolean }): Ajv2020 {
  // strict: false allows keywords that are not of JSON Schema, such as `components`.
  // ownProperties: a field may be named 'toString', which every object inherits.
  // multipleOfPrecision: 0.07 is a multiple of 0.01, although 0.07 / 0.01 is 7.000000000000001.
  const ajv = new Ajv2020({
    ...options,
    discriminator: true,
    strict: false,
    ownProperties: true,
    multipleOfPrecision: 9,
  })
  for (const keyword of KEYWORDS) ajv.removeKeyword(keyword.keyword).addKeyword(keyword)
  return ajv
}

function issues(validate: ValidateFunction): Issue[] {
  const errors = (validate.errors ?? []).filter((error) => !isConsequence(error))
  return errors.slice(0, MOST_ISSUES).map(toIssue)
}

// 'anyOf' repeats the errors of its branches; the branch 'null' is there only for `nullable`.
function isConsequence({ keyword, params }: ErrorObject): boolean {
  return keyword === 'anyOf' || (keyword === 'type' && params['type'] === 'null')
}

function toIssue(error: ErrorObject): Issue {
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
      return { path: error.instancePath, message: describe(error) }
  }
}

function describe({ keyword, params, message }: ErrorObject): string {
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
