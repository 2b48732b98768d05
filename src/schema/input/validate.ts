import type { Ajv2020, ErrorObject, ValidateFunction, AnySchemaObject, FuncKeywordDefinition } from 'ajv/dist/2020.js'
import { loadLater, memo } from '../../core/memo.js'
import { escapePointer } from '../../core/json-pointer.js'
import { type Issue, MAX_ISSUES, listValues } from '../shape/issue.js'
import { ANY_BUT_NULL, type JsonSchema } from '../shape/shape.js'
import { KnownSchemas } from './surely-compiles.js'
import { failuresOf } from '../shape/check.js'
import { formatCheck, formatMeaning } from '../shape/formats.js'
import { isLonger } from '../shape/length.js'
import { matches } from '../patterns/matches.js'

/** Returns all issues of a value; of a large value, which could have hundreds of thousands, only the first. */
export type Validate = (value: unknown, isLarge?: boolean) => readonly Issue[]

const NONE: readonly Issue[] = []

const ajvLibrary = loadLater<typeof import('ajv/dist/2020.js')>('ajv/dist/2020.js')

/** The prefix of references to components in schemas to compile: each component has its own address. */
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

/** Checks schemas against the meta-schema. Created for the first schema that may be invalid. */
const checker = memo(() => {
  const ajv = new (ajvLibrary().Ajv2020)({ strict: false })
  for (const keyword of KEYWORDS) ajv.removeKeyword(keyword.keyword).addKeyword(keyword)
  return ajv
})

function newAjv(options: { readonly allErrors: boolean }, components: ReadonlyMap<string, JsonSchema>): Ajv2020 {
  // strict: false allows keywords that JSON Schema does not have, such as `discriminator`.
  // ownProperties: a field may be named 'toString', which every object inherits.
  // multipleOfPrecision: 0.07 is a multiple of 0.01, although 0.07 / 0.01 is 7.000000000000001.
  // meta, validateSchema: schemas are checked before; compiling the meta-schema takes longer than a route's.
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

/*
 * Replacements for keywords of ajv. Those that read a whole string are skipped for a string longer than `maxLength`: only its length is
 * reported, so their cost is bounded. `enum` looks the value up in a set, where ajv compares it with one value after the other.
 */

interface KeywordFunction {
  (value: unknown): boolean
  errors?: Partial<ErrorObject>[]
}

function pattern(source: string, parent: AnySchemaObject): KeywordFunction {
  const expression = new RegExp(source, 'u')
  const isMatch = (value: unknown) => typeof value !== 'string' || matches(expression, value)
  return keyword('pattern', ifShort(parent, isMatch), () => [`must match pattern "${source}"`])
}

function format(name: string, parent: AnySchemaObject): KeywordFunction {
  return keyword('format', ifShort(parent, formatCheck(name)), () => [`must be ${formatMeaning(name)}`])
}

function checks(numbers: readonly number[], parent: AnySchemaObject): KeywordFunction {
  let failures: readonly string[] = [] // of the last value
  const fits = (value: unknown) => (failures = failuresOf(numbers, value)).length === 0
  return keyword('checks', ifShort(parent, fits), () => failures)
}

function oneOf(values: readonly unknown[]): KeywordFunction {
  const allowed = new Set(values)
  const message = `must be one of ${listValues(values)}`
  const isAllowed = (value: unknown) => allowed.has(value)
  return keyword('enum', isAllowed, () => [message])
}

/** The check of a string that is not longer than `maxLength`. */
function ifShort({ maxLength: most }: AnySchemaObject, fits: (value: unknown) => boolean): typeof fits {
  if (typeof most !== 'number') return fits
  return (value) => (typeof value === 'string' && isLonger(value, most)) || fits(value)
}

// ajv reads the errors of a keyword from the property `errors` of its function.
function keyword(name: string, fits: (value: unknown) => boolean, messages: () => readonly string[]): KeywordFunction {
  const validate: KeywordFunction = (value) => {
    if (fits(value)) return true
    validate.errors = messages().map((message) => ({ keyword: name, params: {}, message }))
    return false
  }
  return validate
}

/** The keywords that replace those of ajv, and `checks`, which runs custom checks: see {@link failuresOf}. */
export const KEYWORDS: readonly (FuncKeywordDefinition & { readonly keyword: string })[] = [
  { keyword: 'pattern', type: 'string', schemaType: 'string', errors: true, compile: pattern },
  { keyword: 'format', type: ['string', 'number'], schemaType: 'string', errors: true, compile: format },
  { keyword: 'enum', schemaType: 'array', errors: true, compile: oneOf },
  { keyword: 'checks', schemaType: 'array', errors: true, compile: checks },
]

const TEXT = 'must not contain U+0000 or half of a surrogate pair'
const NUMBER = `must be a number from ${-Number.MAX_VALUE} to ${Number.MAX_VALUE}`

/**
 * The issues of values that a database or JSON cannot hold, at most `most` of them: PostgreSQL does not store U+0000, a lone surrogate
 * has no UTF-8 encoding, and JSON.parse() reads a number that is too large as Infinity.
 */
export function illFormedStrings(value: unknown, path: string, most: number): readonly Issue[] {
  if (typeof value === 'number' && Number.isFinite(value)) return NONE
  const issues: Issue[] = []
  collect(value, { keys: [], path, most, issues })
  return issues
}

interface Search {
  /** The keys that lead to the value. They are written as a path only for issues. */
  readonly keys: (string | number)[]
  readonly path: string
  readonly most: number
  readonly issues: Issue[]
}

function collect(value: unknown, search: Search): void {
  if (search.issues.length >= search.most) return
  if (typeof value === 'string') return isWellFormed(value) ? undefined : report(TEXT, search)
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : report(NUMBER, search)
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) return value.forEach((item, index) => within(index, item, search))
  for (const key of Object.keys(value)) {
    // An ill-formed key is reported at its object: a path that contains the key would be ill-formed, too.
    if (isWellFormed(key)) within(key, Reflect.get(value, key), search)
    else if (search.issues.length < search.most) report(TEXT, search)
  }
}

function within(key: string | number, value: unknown, search: Search): void {
  search.keys.push(key)
  collect(value, search)
  search.keys.pop()
}

function report(message: string, { keys, path, issues }: Search): void {
  issues.push({ path: path + keys.map((key) => `/${escapePointer(String(key))}`).join(''), message })
}

function isWellFormed(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed()
}
