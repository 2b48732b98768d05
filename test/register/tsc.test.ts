import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { alone, printed, project, tscCommand, type Mode } from '../support/project.js'

const types = [
  ['string', 'number', 'boolean', 'bigint', 'symbol', 'void', 'never', 'any', 'unknown', 'object'],
  ['number | null', 'string | undefined', 'string | number', 'true | false', '"asc"', '"asc" | "desc"', '1 | 2'],
  ['string[]', 'Array<string>', 'readonly string[]', '[string, number]', 'Record<string, string>', '{ a: string }'],
  ['Date', 'Map<string, string>', 'Uint8Array', 'URL', 'Promise<string>', 'Function', '() => void', '`a${string}`'],
  ['Local', 'Local | null', 'Local | undefined', 'Partial<Local>', 'keyof Local', 'typeof local', 'Local & Shape'],
  ['Abstract', 'Generic<string>', 'Shape', 'Alias', 'Anything', 'Size', 'Colour', 'Local extends Shape ? 1 : 2'],
  ['Imported', 'Renamed', 'Default', 'space.Imported', 'Merged<string>', 'ImportedShape', 'Forms'],
].flat()

const forms = `
import 'reflect-metadata'
import Default, { Imported, Imported as Renamed, Merged, type ImportedShape } from './imported.js'
import * as space from './imported.js'

class Local { a = '' }
const local = new Local()
abstract class Abstract {}
class Generic<T> { value?: T }
interface Shape { a: string }
type Alias = Local
enum Size { Small, Large }
enum Colour { Red = 'red' }
const Note: MethodDecorator = () => {}

class Forms {
  ${types.map((type, i) => `@Note method${i}<Anything>(value: ${type}): ${type} { return value }`).join('\n  ')}
}
const described = ${JSON.stringify(types)}.map((type, i) => [
  type,
  ...['design:paramtypes', 'design:returntype'].map((key) =>
    [Reflect.getMetadata(key, Forms.prototype, 'method' + i)].flat().map((found) => found?.name).join(),
  ),
])
console.log(JSON.stringify(Object.fromEntries(described.map(([type, ...found]) => [type, found]))))
`

const imported = `
export class Imported {}
export default class Default {}
export interface ImportedShape { a: string }
export interface Merged<T> { value: T }
export const Merged = class Merged {}
`

const decorators = `
import 'reflect-metadata'
const log: unknown[] = []
const note = (name: string) => (log.push(name), (...given: any[]) => void log.push([name, ...given.slice(1)].map(String)))

const Base: new () => any = class { set assigned(value: string) { log.push('assigned ' + value) } }

@note('class 1') @note('class 2')
class Hero extends Base {
  @note('declared') declare nothing: string
  @note('uninitialised') unset!: number
  @note('field') assigned: any = 'Robin'
  constructor(@note('parameter 1') readonly first: string, @note('parameter 2') second?: number) { super() }
  @note('method') @note('method again') say(@note('word') word: string) { return word }
  @note('accessor') get size() { return 1 }
  @note('static') static make() { return Hero }
}

const Loud: MethodDecorator = (_target, _name, descriptor: any) => {
  const quiet = descriptor.value
  descriptor.value = function (this: unknown, ...given: unknown[]) { return quiet.apply(this, given).toUpperCase() }
}
const Other = (type: any): any => class extends type { other = true }
@Other class Shouting { @Loud say(word: string) { return word } }

log.push(Object.keys(new Hero('Robin')), Object.keys(new Shouting()), new Shouting().say('hello'))
log.push(Reflect.getMetadata('design:paramtypes', Hero).map((type: Function) => type.name))
log.push(Reflect.getMetadata('design:type', Hero.prototype, 'unset').name)
console.log(JSON.stringify(log))
`

const cases: [name: string, files: Record<string, string>][] = [
  ['metadata of a parameter and of a result', { 'src/app.ts': forms, 'src/imported.ts': imported }],
  ['effect and order of decorators', { 'src/app.ts': decorators }],
]

for (const [name, files] of cases) {
  test(`the ${name} is what tsc gives`, async (t) => {
    const { hook, tsc } = await bothWays(t, files)
    assert.deepEqual(JSON.parse(hook), JSON.parse(tsc))
  })
}

async function bothWays(t: TestContext, files: Record<string, string>) {
  const plain: Mode = { name: 'plain', args: [] }
  const root = await project(t, {
    'tsconfig.json': JSON.stringify({
      extends: join(import.meta.dirname, '../../tsconfig.base.json'),
      compilerOptions: { rootDir: 'src', outDir: 'dist', strict: true, types: [] },
      include: ['src'],
    }),
    ...files,
  })
  await printed(root, plain, tscCommand, '--lib', 'es2023,dom')
  return { hook: await printed(root, alone, 'src/app.ts'), tsc: await printed(root, plain, 'dist/app.js') }
}
