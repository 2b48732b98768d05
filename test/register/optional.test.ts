import assert from 'node:assert/strict'
import { test } from 'node:test'
import { afterTsx, alone, inTsx, printed, project } from '../support/project.js'

/** Lists of parameters, and how their names read at run time. */
const forms: Readonly<Record<string, string>> = {
  'a?: string': 'a/*?*/',
  'a ? : string': 'a/*?*/',
  'a: string, b?: number, c?: Date': 'a, b/*?*/, c/*?*/',
  '@Note() a?: string': 'a/*?*/',
  '@Note({ x: 1 ? 2 : 3 }) a?: string, b = 5': 'a/*?*/, b = 5',
  'a: string': 'a',
  'a: { b?: string }': 'a',
  'a: (b?: string) => void': 'a',
  '{ b }: { b?: string } = {}': '{ b } = {}',
  'f = (x?: string) => x': 'f = (x/*?*/) => x',
  'f = text(`a?: (a)`, "b?: (b)", b)': 'f = text(`a?: (a)`, "b?: (b)", b)',
  '...a: (string | undefined)[]': '...a',
  'a: string = 1 ? "a" : "b"': 'a = 1 ? "a" : "b"',
  '\n// why?\n  a?: string,\n  /* b?: */ b: string = "?"': 'a/*?*/, b = "?"',
  'größe?: string': 'größe/*?*/',
}

const program = `
const Note = (..._: unknown[]): any => () => {}
class Heroes {
${Object.keys(forms)
  .map((form, i) => `  @Note() method${i}(${form}) { const g = (x?: string) => (x ? 1 : 2); return [g] }`)
  .join('\n')}
}
class Service {
  @Note() static make(id?: string) { return id }
  constructor(@Note() readonly name?: string, @Note() readonly age: number = 5) {}
}
const inner = () => {
  class Inner { @Note() list(a?: string) {} }
  return Inner
}
const text = (value: unknown) => /\\(([^]*?)\\) \\{/.exec(String(value))![1]!
console.log(JSON.stringify(Object.getOwnPropertyNames(Heroes.prototype).slice(1).map((name) => text((Heroes.prototype as any)[name]))))
console.log(text(/constructor[^]*/.exec(String(Service))![0]), text(Service.make), text(inner().prototype.list))`

// Where tsx comes last it compiles what is compiled already, and takes the marks away.
for (const mode of [alone, afterTsx, inTsx]) {
  test(`${mode.name}, the source of a method has which of its parameters are written with a '?'`, async (t) => {
    const lines = (await printed(await project(t, { 'app.ts': program }), mode, 'app.ts')).split('\n')
    const texts = JSON.parse(lines[0] ?? '') as string[]
    assert.deepEqual(Object.fromEntries(Object.keys(forms).map((form, i) => [form, texts[i]])), forms)
    assert.equal(lines[1], 'name/*?*/, age = 5 id/*?*/ a/*?*/')
  })
}

test('strings, templates and regular expressions have no marks', async (t) => {
  const texts = [
    "'(age?: number, (age)'",
    '`age?: (age, ${1} age?: (age)${2}(name?: (name), name)`',
    'String.raw`(age?: (age)`',
    String.raw`/\(age?, (age)/.source`,
    "((age?: string, name?: string) => `(${age}, ${name})`)('age?', '(name?)')",
  ]
  const source = `const Note: MethodDecorator = () => {}
class Heroes { @Note list(age?: number) { return age } }
console.log(JSON.stringify([${texts.join(', ')}]), /\\/\\*/.test(String(Heroes.prototype.list)))`
  const values = texts.map((text) =>
    new Function(`return ${text.replace(/: string/g, '').replace(/\?, name\?\)/, ', name)')}`)(),
  )
  const [line = ''] = (await printed(await project(t, { 'app.ts': source }), alone, 'app.ts')).split('\n')
  assert.equal(line, `${JSON.stringify(values)} true`)
})

test('the marks move no line of an error', async (t) => {
  const source = `const Note: MethodDecorator = () => {}
class Heroes {
  @Note list(
    a?: string,
    b?: string,
  ) {
    throw new Error('here')
  }
}
try { new Heroes().list() } catch (error) { console.log(/app\\.ts:(\\d+)/.exec((error as Error).stack!)![1]) }`
  assert.equal(await printed(await project(t, { 'app.ts': source }), alone, 'app.ts'), '7')
})

/** Fields of a class, their names, and whether they are written with a `?`. */
const fields: readonly (readonly [field: string, name: string, isOptional: boolean])[] = [
  ['@Note() a?: string', 'a', true],
  ['@Note({ x: 1 ? 2 : 3 }) b ? : string', 'b', true],
  ['@Note()\n  // why?\n  readonly c?: string', 'c', true],
  ['@Note() @Note({ f: () => (1 ? [2] : 3) }) d?: string', 'd', true],
  ['@Note({ y: "a?: b" }) declare public e?: number', 'e', true],
  ['@Note() größe?: string', 'größe', true],
  ['@Note() f!: string', 'f', false],
  ['@Note() g: number = 1 ? 2 : 3', 'g', false],
  ['@Note() h!: { h?: string }', 'h', false],
  ['@Note({ i: { i: "?" } }) i: string | undefined', 'i', false],
]

const classOfFields = `
import 'reflect-metadata'
const Note = (..._: unknown[]): any => () => {}
class Heroes {
  ${fields.map(([field]) => field).join('\n  ')}
}
const read = (key: string, name: string) => Reflect.getMetadata(key, Heroes.prototype, name)
console.log(JSON.stringify(${JSON.stringify(fields)}.map(([field, name]: any) => [field, read('design:type', name) ? name : 'no type', read('design:optional', name) === true])))`

for (const mode of [alone, afterTsx, inTsx]) {
  test(`${mode.name}, a decorated field that is written with a '?' has it as metadata`, async (t) => {
    assert.deepEqual(JSON.parse(await printed(await project(t, { 'app.ts': classOfFields }), mode, 'app.ts')), fields)
  })
}
