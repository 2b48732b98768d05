import assert from 'node:assert/strict'
import { test } from 'node:test'
import { methodParameters, namedConstructor, plainParameters } from '../../src/di/parameter-names.js'
import type { Constructor } from '../../src/di/token.js'

type Method = (...args: never[]) => unknown

// What runs is what is read: the texts are compiled here, and the engine gives them back as they are written.
function evaluate(expression: string): unknown {
  return new Function(`'use strict'; return ${expression}`)()
}

function methodOf(source: string): Method {
  const type = evaluate(`class { ${source} }`) as Constructor
  const [method] = [...membersOf(type.prototype as object), ...membersOf(type)]
  return method as Method
}

function membersOf(target: object): unknown[] {
  const members = Object.getOwnPropertyDescriptors(target)
  return Object.entries(members).flatMap(([name, { value, enumerable }]) =>
    name === 'constructor' || name === 'prototype' || enumerable || typeof value !== 'function' ? [] : [value],
  )
}

const methods: readonly (readonly [source: string, names: readonly (string | undefined)[]])[] = [
  ['list() {}', []],
  ['list(a, b) {}', ['a', 'b']],
  ['list(a, b,) {}', ['a', 'b']],
  ['async list(a) {}', ['a']],
  ['*list(a) {}', ['a']],
  ['async *list(a) {}', ['a']],
  ['static list(a) {}', ['a']],
  ['async(a) {}', ['a']],
  ['get(a) {}', ['a']],
  ['list(a = ",)", b) {}', ['a', 'b']],
  ["list(a = ')', b = '\\'', c) {}", ['a', 'b', 'c']],
  ['list(a = `,${[1, ")"].join(`)`)}`, b) {}', ['a', 'b']],
  ['list(a = /[),]\\/"/, b) {}', ['a', 'b']],
  ['list(a = (x, y) => x, b) {}', ['a', 'b']],
  ['list(a = { b: [1, 2], c() {} }, d) {}', ['a', 'd']],
  ['list(a = class { m(x, y) {} }, b) {}', ['a', 'b']],
  ['list(a /* , c) */, // d)\n b) {}', ['a', 'b']],
  ['/* x, y */ list /* ( */ (a) {}', ['a']],
  ['list({ a, b }, c) {}', [undefined, 'c']],
  ['list([a, b] = [], c) {}', [undefined, 'c']],
  ['list(a, ...rest) {}', ['a', 'rest']],
  ['["na" + "mes"](a) {}', ['a']],
  ["'a b'(c) {}", ['c']],
  ['1(a) {}', ['a']],
  ['[`(${"x"})`](a) {}', ['a']],
  ['größe(größe, $, _1, ñ) {}', ['größe', '$', '_1', 'ñ']],
  ['#secret = 1; list(a) { return #secret in this && this.#secret }', ['a']],
  ['list(a) { return super.toString() }', ['a']],
  ['list(a){const{b:c}=a;return c}', ['a']],
  ['async list(e,t=5){for await(const n of e)if(n>t)return n}', ['e', 't']],
]

for (const [source, names] of methods) {
  test(`the parameters of '${source}' are ${names.join(', ') || 'none'}`, () => {
    assert.deepEqual(
      methodParameters(methodOf(source)).map(({ name }) => name),
      names,
    )
  })
}

const functions = [
  'function (a, b) {}',
  'async function list(a, b) {}',
  '(a, b) => {}',
  'async (a, b) => ({})',
] as const

for (const source of functions) {
  test(`the parameters of the function '${source}' are a, b`, () => {
    const names = methodParameters(evaluate(`(${source})`) as Method).map(({ name }) => name)
    assert.deepEqual(names, ['a', 'b'])
  })
}

test('a method that names import.meta can be read', () => {
  class Files {
    open(name: string) {
      return new URL(name, import.meta.url)
    }
  }
  assert.deepEqual(
    methodParameters(Files.prototype.open).map(({ name }) => name),
    ['name'],
  )
})

const defaults: readonly (readonly [source: string, value: unknown])[] = [
  ['10', 10],
  ['-1', -1],
  ["'asc'", 'asc'],
  ['true', true],
  ['null', null],
  ['5n', undefined],
  ['/x/', undefined],
  ['[]', undefined],
  ['`asc`', undefined],
  ['limit()', undefined],
]

for (const [source, value] of defaults) {
  test(`the default '${source}' is ${value === undefined ? 'not read, but known to be there' : `read as ${String(value)}`}`, () => {
    const [parameter] = methodParameters(methodOf(`list(a = ${source}) {}`))
    assert.deepEqual([parameter?.hasDefault, parameter?.defaultValue], [true, value])
  })
}

test('only a parameter with three dots is a rest parameter', () => {
  const rests = methodParameters(methodOf('list(a, b = 1, ...c) {}')).map(({ rest }) => rest === true)
  assert.deepEqual(rests, [false, false, true])
})

const constructors: readonly (readonly [what: string, source: string, names: readonly (string | undefined)[]])[] = [
  ['without a constructor', 'class { list(a) {} }', []],
  ['with parameters', 'class { constructor(a, b = ",)") {} }', ['a', 'b']],
  ['with a regular expression before it', 'class { static x = /constructor(z)[/]/; constructor(a) {} }', ['a']],
  ['with a text before it', 'class { x = "constructor(z) {}"; constructor(a) {} }', ['a']],
  ['with a static block before it', 'class { static { const constructor = (z) => z } constructor(a) {} }', ['a']],
  ['with a static method of that name', 'class { static constructor(z) {} constructor(a) {} }', ['a']],
  ['with a computed method of that name', 'class { ["constructor"](z) {} constructor(a) {} }', ['a']],
  ['with private fields', 'class { #b; constructor(a) { this.#b = a } }', ['a']],
  ['that inherits it', 'class extends class { constructor(a) {} } {}', ['a']],
  [
    'that hands everything on',
    'class extends class { constructor(a) {} } { constructor(...all) { super(...all) } }',
    ['a'],
  ],
  ['with a constructor of its own', 'class extends class { constructor(a) {} } { constructor(b) { super(b) } }', ['b']],
  ['that extends a built-in class', 'class extends Map {}', []],
  ['that extends a function', 'class extends (function Emitter(options) {}) {}', []],
  ['minified', 'class{constructor(e,t){this.e=e}}', ['e', 't']],
]

for (const [what, source, names] of constructors) {
  test(`a class ${what} is built from ${names.join(', ') || 'nothing'}`, () => {
    const { parameters } = namedConstructor(evaluate(`(${source})`) as Constructor)
    assert.deepEqual(
      parameters.map(({ name }) => name),
      names,
    )
  })
}

test('a bound method shows no parameters', () => {
  assert.deepEqual(methodParameters(methodOf('list(a) {}').bind(undefined)), [])
})

const plain: readonly string[] = [
  'list() ',
  'async list(a, b)',
  'list( $a ,\n  _b,\n)',
  'async(a)',
  'list(a/*?*/, b = 1)',
  'list(a = 1, b = -0.5, c = -0, d = true, e = null)',
  `list(a = 'x, y', b = "z = (1)", c = "'", d = '')`,
]

test('of a plain method only the head is read, with the same result as of its whole source', () => {
  for (const head of plain) {
    const ofHead = plainParameters(`${head} { syntax that no parser knows }`)
    // With a comment before its body a method is parsed.
    const parsed = methodParameters(methodOf(`${head} /* parsed */ { return {} }`))
    assert.deepStrictEqual(ofHead, parsed, head)
  }
  for (const other of ['*list(a)', 'list({ a })', 'list(...a)', 'list(a = [])', 'list(a = 1 + 1)', 'list(größe)'])
    assert.equal(plainParameters(`${other} {}`), undefined)
})

test('the constructor of a class is found although its source is parsed only if it may have one', () => {
  class WithoutOne {
    list(a: string) {
      return a
    }
  }
  class Inherits extends WithoutOne {}
  const mentions = evaluate('class A { name() { return this.constructor.name } }') as Constructor
  const escaped = evaluate('class A { c\\u006fnstructor(a) {} }') as Constructor
  const quoted = evaluate("class A { 'constructor'(a) {} }") as Constructor
  const names = [WithoutOne, Inherits, mentions, escaped, quoted].map((type) =>
    namedConstructor(type).parameters.map(({ name }) => name),
  )
  assert.deepEqual(names, [[], [], [], ['a'], ['a']])
})
