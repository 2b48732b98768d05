// The same on both query paths: it executes no statement.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createApp } from 'sequitur'
import { memoryDatabase } from 'sequitur/testing'
import { breakingChanges } from '../../src/cli/breaking/breaking-changes.js'
import { controllers, models } from '../support/apps/everything.js'

type Json = Readonly<Record<string, unknown>>

const node = { type: 'object', properties: { next: { $ref: '#/components/schemas/Node' } } }
const cat = { type: 'object', properties: { kind: { enum: ['cat'] } }, required: ['kind'] }
const dog = { type: 'object', properties: { kind: { enum: ['dog'] }, age: { type: 'integer' } }, required: ['kind'] }
const components = { schemas: { Node: node, Cat: cat, Dog: dog } }

const json = (schema: Json) => ({ content: { 'application/json': { schema } } })
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })

/** A document of one operation. */
function document(operation: Json, rest: Json = {}): Json {
  return { paths: { '/a': { post: operation } }, components, ...rest }
}

const documents = {
  input: (schema: Json) => document({ requestBody: json(schema), responses: {} }),
  output: (schema: Json) => document({ responses: { 200: json(schema) } }),
}

function schemaChanges(direction: 'input' | 'output', before: Json, after: Json): string[] {
  return breakingChanges(documents[direction](before), documents[direction](after))
}

const object = (properties: Json, required: string[] = [], additionalProperties: unknown = false) => ({
  type: 'object',
  properties,
  required,
  additionalProperties,
})
const text = { type: 'string' }
const integer = { type: 'integer' }

/** The second accepts fewer values than the first: this breaks clients that send them; the reverse breaks clients that receive them. */
const narrower: readonly (readonly [wide: Json, narrow: Json])[] = [
  [{}, text],
  [{ type: ['string', 'null'] }, text],
  [{ type: 'number' }, integer],
  [{ anyOf: [ref('Cat'), { type: 'null' }] }, ref('Cat')],
  [{ oneOf: [ref('Cat'), ref('Dog')] }, { oneOf: [ref('Dog')] }],
  [integer, { ...integer, maximum: 5 }],
  [
    { ...integer, maximum: 5 },
    { ...integer, maximum: 4 },
  ],
  [integer, { ...integer, minimum: 0 }],
  [
    { ...integer, minimum: -1 },
    { ...integer, minimum: 0 },
  ],
  [
    { ...integer, minimum: 0 },
    { ...integer, exclusiveMinimum: 0 },
  ],
  [
    { ...integer, exclusiveMaximum: 5 },
    { ...integer, maximum: 4 },
  ],
  [integer, { ...integer, multipleOf: 2 }],
  [
    { ...integer, multipleOf: 2 },
    { ...integer, multipleOf: 4 },
  ],
  [text, { ...text, minLength: 1 }],
  [
    { ...text, minLength: 1 },
    { ...text, minLength: 2 },
  ],
  [text, { ...text, maxLength: 9 }],
  [
    { ...text, maxLength: 9 },
    { ...text, maxLength: 8 },
  ],
  [text, { ...text, pattern: '^a' }],
  [text, { ...text, format: 'uuid' }],
  [text, { ...text, enum: ['a'] }],
  [text, { const: 'a' }],
  [{ enum: ['a', 'b'] }, { enum: ['b'] }],
  [
    { type: ['string', 'null'], enum: ['a', null] },
    { type: 'string', enum: ['a'] },
  ],
  [{ type: 'array' }, { type: 'array', items: text }],
  [
    { type: 'array', items: { type: ['string', 'null'] } },
    { type: 'array', items: text },
  ],
  [{ type: 'array' }, { type: 'array', minItems: 1 }],
  [
    { type: 'array', maxItems: 3 },
    { type: 'array', maxItems: 2 },
  ],
  [{ type: 'array' }, { type: 'array', uniqueItems: true }],
  [object({ a: text }), object({ a: { ...text, maxLength: 3 } })],
  [object({ a: text }), object({ a: text }, ['a'])],
  [
    { type: 'object', additionalProperties: { type: 'number' } },
    { type: 'object', additionalProperties: integer },
  ],
  [{ allOf: [object({ a: text }), object({ b: text })] }, { allOf: [object({ a: text }), object({ b: text }, ['b'])] }],
]

/** Each accepts a value that the other does not. */
const others: readonly (readonly [before: Json, after: Json])[] = [
  [text, integer],
  [ref('Cat'), ref('Dog')],
  [
    { ...text, pattern: '^a' },
    { ...text, pattern: '^b' },
  ],
  [
    { ...text, format: 'uuid' },
    { ...text, format: 'email' },
  ],
  [{ enum: ['a', 'b'] }, { enum: ['b', 'c'] }],
  [
    { ...integer, minimum: 0, maximum: 5 },
    { ...integer, minimum: 1, maximum: 6 },
  ],
  [{ not: text }, { not: integer }],
  [
    { type: 'array', items: text },
    { type: 'array', items: integer },
  ],
]

/** Both accept the same values. */
const same: readonly (readonly [before: Json, after: Json])[] = [
  [text, { ...text, description: 'A text', examples: ['a'], title: 'T', deprecated: true }],
  [ref('Node'), ref('Node')],
  [{ oneOf: [ref('Cat'), ref('Dog')] }, { anyOf: [ref('Dog'), ref('Cat')] }],
  [{ type: ['string', 'null'] }, { anyOf: [{ type: 'null' }, text] }],
  [{ const: 'a' }, { enum: ['a'] }],
  [
    { ...integer, format: 'double-int' },
    { ...integer, format: 'int32' },
  ],
  [ref('Cat'), cat],
  [{ allOf: [object({ a: text }), { required: ['a'] }] }, object({ a: text }, ['a'])],
]

const shown = (schema: Json) => JSON.stringify(schema)

for (const [wide, narrow] of narrower) {
  test(`from ${shown(wide)} to ${shown(narrow)} breaks clients that send it, the reverse clients that receive it`, () => {
    assert.equal(schemaChanges('input', wide, narrow).length, 1)
    assert.deepEqual(schemaChanges('output', wide, narrow), [])
    assert.deepEqual(schemaChanges('input', narrow, wide), [])
    assert.equal(schemaChanges('output', narrow, wide).length, 1)
  })
}

for (const [before, after] of others) {
  test(`from ${shown(before)} to ${shown(after)} and back breaks all clients`, () => {
    for (const direction of ['input', 'output'] as const) {
      assert.notDeepEqual(schemaChanges(direction, before, after), [])
      assert.notDeepEqual(schemaChanges(direction, after, before), [])
    }
  })
}

for (const [before, after] of same) {
  test(`from ${shown(before)} to ${shown(after)} and back breaks no client`, () => {
    for (const direction of ['input', 'output'] as const) {
      assert.deepEqual(schemaChanges(direction, before, after), [])
      assert.deepEqual(schemaChanges(direction, after, before), [])
    }
  })
}

/** Properties differ from values: clients ignore unknown ones, and require known ones. */
const properties: readonly (readonly [before: Json, after: Json, input: boolean, output: boolean])[] = [
  [object({ a: text }), object({}), true, true],
  [object({}), object({ a: text }), false, false],
  [object({ a: text }, [], true), object({}, [], true), false, true],
  [object({}), object({ a: text }, ['a']), true, false],
  [object({}, [], true), object({}), true, false],
  [object({}), object({}, [], true), false, false],
  [object({}, [], text), object({}), true, true],
  [object({ a: { ...text, default: 'x' } }), object({ a: { ...text, default: 'y' } }), true, false],
  [object({ a: text }, ['a']), object({ a: { ...text, default: 'y' } }), false, true],
]

for (const [before, after, input, output] of properties) {
  test(`from ${shown(before)} to ${shown(after)} breaks clients that send it: ${input}, that receive it: ${output}`, () => {
    assert.deepEqual(
      [schemaChanges('input', before, after).length > 0, schemaChanges('output', before, after).length > 0],
      [input, output],
    )
  })
}

type ChangeMessages = readonly [direction: 'input' | 'output', before: Json, after: Json, ...messages: string[]]
const messages: readonly ChangeMessages[] = [
  ['input', object({ a: text }), object({}), 'POST /a, body: the property a was removed'],
  ['input', object({}), object({ a: text }, ['a']), 'POST /a, body: the property a is now required'],
  ['input', { enum: ['a', 'b'] }, { enum: ['b', 'c'] }, 'POST /a, body: a is no longer accepted'],
  ['input', integer, { enum: [1, 2] }, 'POST /a, body: only 1, 2 are now accepted'],
  ['output', { enum: ['a', 'b'] }, { enum: ['b', 'c'] }, 'POST /a, response 200: c may now be returned'],
  ['output', { enum: ['a'] }, text, 'POST /a, response 200: values other than a may now be returned'],
  [
    'output',
    object({ a: text }, ['a']),
    object({ a: text }),
    'POST /a, response 200: the property a may now be missing',
  ],
  [
    'output',
    object({ a: { type: 'array', items: text } }),
    object({ a: { type: 'array', items: { type: ['string', 'null'] } } }),
    'POST /a, response 200/a/*: the type string became string or null',
  ],
  [
    'output',
    { anyOf: [ref('Cat'), { type: 'null' }] },
    { anyOf: [ref('Cat'), ref('Dog')] },
    'POST /a, response 200: the type Cat or null became Cat or Dog',
  ],
  [
    'input',
    object({ limit: { ...integer, maximum: 100 } }),
    object({ limit: { ...integer, maximum: 50 } }),
    'POST /a, body/limit: maximum 100 became maximum 50',
  ],
  [
    'input',
    object({ a: text, b: { ...integer, default: 1 } }),
    object({ a: { ...text, default: 'x' }, b: integer }),
    'POST /a, body/a: no default became default x',
    'POST /a, body/b: default 1 became no default',
  ],
  ['input', text, { ...text, minLength: 1 }, 'POST /a, body: no minLength became minLength 1'],
]

for (const [direction, before, after, ...expected] of messages) {
  test(`the message is: ${expected.join('; ')}`, () => {
    assert.deepEqual(schemaChanges(direction, before, after), expected)
  })
}

const limit = { name: 'limit', in: 'query', schema: integer }
const bearer = { type: 'http', scheme: 'bearer' }
const secured = (scheme: Json, security: Json[]) =>
  document({ security, responses: {} }, { components: { securitySchemes: { One: scheme, Two: bearer } } })

const operations: readonly (readonly [before: Json, after: Json, changes: readonly string[]])[] = [
  [document({}), { paths: {} }, ['POST /a was removed']],
  [{ paths: {} }, document({}), []],
  [
    { paths: { '/a/{id}/b': { get: { parameters: [{ name: 'id', in: 'path', required: true, schema: integer }] } } } },
    { paths: { '/a/{key}/b': { get: { parameters: [{ name: 'key', in: 'path', required: true, schema: text }] } } } },
    ["GET /a/{id}/b, path parameter 'id': the type integer became string"],
  ],
  [document({ parameters: [limit] }), document({}), ["POST /a: the query parameter 'limit' was removed"]],
  [document({}), document({ parameters: [limit] }), []],
  [
    document({ parameters: [{ ...limit, schema: { ...integer, default: 10 } }] }),
    document({ parameters: [{ ...limit, schema: { ...integer, default: 20 } }] }),
    ["POST /a, query parameter 'limit': default 10 became default 20"],
  ],
  [
    document({ parameters: [{ ...limit, required: true }] }),
    document({ parameters: [{ ...limit, schema: { ...integer, default: 20 } }] }),
    [],
  ],
  [
    document({ operationId: 'heroList' }),
    document({ operationId: 'heroesList' }),
    ['POST /a: the operationId heroList became heroesList'],
  ],
  [document({}), document({ operationId: 'heroList' }), []],
  [
    document({ parameters: [limit] }),
    document({ parameters: [{ ...limit, required: true }] }),
    ["POST /a: the query parameter 'limit' is now required"],
  ],
  [
    document({ parameters: [limit] }),
    document({ parameters: [{ ...limit, schema: { ...integer, maximum: 50 } }] }),
    ["POST /a, query parameter 'limit': no maximum became maximum 50"],
  ],
  [
    document({ parameters: [limit] }),
    document({ parameters: [{ ...limit, in: 'header' }] }),
    ["POST /a: the query parameter 'limit' was removed"],
  ],
  [document({}), document({ requestBody: { required: true, ...json(text) } }), ['POST /a: the body is now required']],
  [
    document({ requestBody: json(text) }),
    document({ requestBody: { required: true, ...json(text) } }),
    ['POST /a: the body is now required'],
  ],
  [document({ requestBody: json(text) }), document({}), ['POST /a: the body was removed']],
  [
    document({ requestBody: { content: { 'text/csv': {}, 'application/json': {} } } }),
    document({ requestBody: { content: { 'application/json': {} } } }),
    ['POST /a, body: text/csv was removed'],
  ],
  [
    document({ responses: { 200: {}, 303: {}, 404: {} } }),
    document({ responses: { 200: {}, 409: {} } }),
    ['POST /a no longer responds with 303'],
  ],
  [
    document({ responses: { 200: json(text) } }),
    document({ responses: { 200: {} } }),
    ['POST /a, response 200: application/json was removed'],
  ],
  [
    document({ responses: { default: json(object({ detail: text })) } }),
    document({ responses: { default: json(object({})) } }),
    ['POST /a, response default: the property detail was removed'],
  ],
  [secured(bearer, []), secured(bearer, [{ One: [] }]), ['POST /a: it now requires One']],
  [secured(bearer, [{ One: [] }]), secured(bearer, []), []],
  [secured(bearer, [{ One: [] }]), secured(bearer, [{ Two: [] }]), []],
  [secured(bearer, [{ One: [] }]), secured({ ...bearer, description: 'Other' }, [{ One: [] }]), []],
  [
    secured(bearer, [{ One: [] }]),
    secured({ type: 'http', scheme: 'basic' }, [{ One: [] }]),
    ['POST /a: it now requires One'],
  ],
  [secured(bearer, [{ One: [] }]), secured(bearer, [{ One: ['write'] }]), ['POST /a: it now requires One write']],
  [secured(bearer, [{ One: ['read', 'write'] }]), secured(bearer, [{ One: ['write'] }]), []],
  [
    secured({ type: 'mutualTLS' }, [{ One: [] }]),
    secured({ type: 'mutualTLS' }, [{ One: [], Two: [] }]),
    ['POST /a: it now requires One and Two'],
  ],
  [secured({ type: 'mutualTLS' }, [{ One: [] }]), secured({ type: 'mutualTLS' }, [{ Two: [] }, { One: [] }]), []],
  [document({}), document({}, { security: [{ One: [] }] }), ['POST /a: it now requires One']],
  [document({}), document({ security: [] }, { security: [{ One: [] }] }), []],
]

for (const [before, after, changes] of operations) {
  test(`from ${shown(before)} to ${shown(after)}: ${changes.join() || 'nothing breaks'}`, () => {
    assert.deepEqual(breakingChanges(before, after), changes)
  })
}

test('a document of everything breaks nobody who knows it', () => {
  const app = createApp({ controllers, models, lifespan: memoryDatabase(), logger: false })
  const document = JSON.parse(JSON.stringify(app.openapi())) as Json
  assert.deepEqual(breakingChanges(document, structuredClone(document)), [])
})

test('a schema that refers to itself is compared, and no longer than that', () => {
  const itself = { $ref: '#/components/schemas/A' }
  for (const A of [itself, { anyOf: [itself, text] }, { allOf: [itself] }, { oneOf: [{ allOf: [itself] }] }]) {
    const before = { ...document({ responses: { 200: json(itself) } }), components: { schemas: { A } } }
    assert.deepEqual(breakingChanges(before, structuredClone(before)), [], JSON.stringify(A))
  }
})
