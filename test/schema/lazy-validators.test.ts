import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { KEYWORDS, COMPONENT, ValidatorCompiler } from '../../src/schema/input/validate.js'

/** Schemas that use a keyword well, and values that are wrong for most keywords. */
const USES: readonly Record<string, unknown>[] = [
  { type: 'string', minLength: 1, maxLength: 9, pattern: '^a', format: 'email' },
  { type: ['string', 'null'], enum: ['a', null] },
  { type: 'integer', minimum: 1, maximum: 9, exclusiveMinimum: 0, exclusiveMaximum: 10, multipleOf: 1 },
  { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 9 },
  { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false },
  { allOf: [{ format: 'day' }], anyOf: [{ type: 'string' }, { type: 'null' }], oneOf: [{ $ref: 'A' }, { $ref: 'B' }] },
  { oneOf: [{ $ref: 'A' }, { $ref: 'B' }], discriminator: { propertyName: 'kind' } },
  { title: 'a', description: 'b', examples: [1], default: 1, deprecated: true, readOnly: true, writeOnly: false },
  { type: 'string', contentEncoding: 'base64', checks: [0] },
]

const SCALARS: readonly unknown[] = [null, true, -1, 0, 0.5, 1, NaN, Infinity, 5n, '', 'a', '(', 'string', 'kind', 'A']
const LISTS: readonly unknown[] = [[], ['a'], ['a', 'a'], [1], [null], ['string'], [NaN], [{}], [{ $ref: 'None' }]]
const OBJECTS: readonly unknown[] = [{}, { a: 1 }, { a: { type: 'x' } }, { a: { pattern: '(' } }, { type: 'x' }]
const TAGS = ['other', 1, 'toString', 'kind'].map((propertyName) => ({ propertyName, mapping: {} }))
const VALUES = [...SCALARS, ...LISTS, ...OBJECTS, ...TAGS, { toJSON: () => 5 }]

const COMPONENTS: Readonly<Record<string, object>> = {
  A: { type: 'object', properties: { kind: { enum: ['a'] }, a: { type: 'string' } }, required: ['kind', 'a'] },
  B: { type: 'object', properties: { kind: { enum: ['b'] }, other: { $ref: 'A' } }, required: ['kind'] },
}

/** Every schema above, and each with one keyword changed to each of the values. */
const SCHEMAS = USES.flatMap((schema) => [
  schema,
  ...Object.keys(schema).flatMap((keyword) => VALUES.map((value) => ({ ...schema, [keyword]: value }))),
])

function withPrefix<T>(schema: T, prefix: string): T {
  if (Array.isArray(schema)) return schema.map((part: unknown) => withPrefix(part, prefix)) as T
  if (typeof schema !== 'object' || schema === null) return schema
  const entries = Object.entries(schema).map(([key, part]) => [
    key,
    key === '$ref' && typeof part === 'string' ? prefix + part : withPrefix(part, prefix),
  ])
  return Object.fromEntries(entries)
}

const options = { discriminator: true, strict: false, ownProperties: true, logger: false } as const
const ajv = new Ajv2020({ ...options, inlineRefs: true })
for (const keyword of KEYWORDS) ajv.removeKeyword(keyword.keyword).addKeyword(keyword)

/** Compiles a schema with a copy of all components, checked by the schema of JSON Schema. */
function compileWhole(schema: object, components: object): void {
  const whole = withPrefix({ ...schema, components: { schemas: components } }, '#/components/schemas/')
  ajv.compile(JSON.parse(JSON.stringify(whole, (key, part) => (key === 'mapping' ? undefined : part))))
}

function compilerOf(components: object): ValidatorCompiler {
  return new ValidatorCompiler(new Map(Object.entries(withPrefix(components, COMPONENT))))
}

function messageOf(compile: () => unknown): string | undefined {
  try {
    compile()
    return undefined
  } catch (error) {
    return String(error).replaceAll(/#\/components\/schemas\/|component:_| from id \S+/g, '')
  }
}

test('what ajv refuses to compile fails before the first value, with the message of ajv', () => {
  const compiler = compilerOf(COMPONENTS)
  let refused = 0
  for (const schema of SCHEMAS) {
    const expected = messageOf(() => compileWhole(schema, COMPONENTS))
    if (expected !== undefined) refused++
    assert.equal(
      messageOf(() => compiler.compile(withPrefix(schema, COMPONENT))),
      expected,
    )
  }
  assert.ok(refused > 100)
})

test('a component that ajv refuses to compile fails before the first value', () => {
  let refused = 0
  for (const schema of SCHEMAS) {
    const components = { ...COMPONENTS, C: { type: 'object', properties: { c: schema } } }
    const expected = messageOf(() => compileWhole({ $ref: 'C' }, components))
    if (expected === undefined) continue
    refused++
    assert.equal(
      messageOf(() => compilerOf(components)),
      expected,
    )
  }
  assert.ok(refused > 50)
})
