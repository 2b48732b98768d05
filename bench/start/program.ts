import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lower } from '../../src/register/lower.js'

/** How large the app is. */
export interface ProgramSize {
  readonly models: number
  /** Routes of each model. */
  readonly routes: number
}

/** Files that import each other cannot name each other's classes as types: the models of a group are in one file. */
const GROUP = 5

/**
 * The files of an app by their names without extension, as TypeScript: models with eight columns and two associations, each with a controller whose routes list, read, create and
 * change rows, in the style of the README.
 */
export function filesOfProgram({ models, routes }: ProgramSize): ReadonlyMap<string, string> {
  const numbers = Array.from({ length: models }, (_, number) => number)
  const groups = numbers.filter((number) => number % GROUP === 0)
  return new Map([
    ...groups.map((first): [string, string] => [
      `models${first / GROUP}`,
      groupOfModels(numbers.slice(first, first + GROUP)),
    ]),
    ...numbers.map((number): [string, string] => [`resource${number}`, resource(number, routes)]),
    ['app', app(numbers)],
  ])
}

/** Writes the files: as TypeScript, as JavaScript, or as JavaScript in files of TypeScript, which a loader compiles without needing their types. */
export function writeProgram(folder: string, files: ReadonlyMap<string, string>, kind: 'ts' | 'js' | 'lowered'): void {
  mkdirSync(folder, { recursive: true })
  for (const [name, source] of files) {
    const file = join(folder, `${name}.${kind === 'js' ? 'js' : 'ts'}`)
    const text = `// @ts-nocheck\n${source}`
    writeFileSync(file, kind === 'ts' ? text : `// @ts-nocheck\n${lower(`${name}.ts`, text).code}`)
  }
}

function groupOfModels(numbers: readonly number[]): string {
  return `import { Base } from 'sequitur'
import type { CreationOptional } from 'sequelize'
import { BelongsTo, Column, DataType, ForeignKey, HasMany, Table } from 'sequelize-typescript'
${numbers.map((number, index) => model(number, index > 0, index < numbers.length - 1)).join('')}`
}

function model(number: number, hasParent: boolean, hasChildren: boolean): string {
  const parent = hasParent
    ? `
  @ForeignKey(() => Thing${number - 1})
  @Column({ type: DataType.INTEGER, allowNull: true }) declare parent_id: number | null
  @BelongsTo(() => Thing${number - 1}) declare parent?: Thing${number - 1}`
    : `
  @Column({ type: DataType.INTEGER, allowNull: true }) declare parent_id: number | null`
  const children = hasChildren ? `\n  @HasMany(() => Thing${number + 1}, 'parent_id') declare children?: object[]` : ''
  return `
@Table({ tableName: 'thing${number}', timestamps: false, indexes: [{ fields: ['parent_id'] }] })
export class Thing${number} extends Base<Thing${number}> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING(80), allowNull: false, unique: true }) declare name: string
  @Column({ type: DataType.TEXT, allowNull: true }) declare note: string | null
  @Column({ type: DataType.INTEGER, allowNull: false, validate: { min: 0 } }) declare quantity: number
  @Column({ type: DataType.DOUBLE, allowNull: false }) declare price: number
  @Column({ type: DataType.BOOLEAN, allowNull: false, defaultValue: true }) declare open: CreationOptional<boolean>
  @Column({ type: DataType.DATE, allowNull: false }) declare opened_at: Date${parent}${children}
}
`
}

function resource(number: number, routes: number): string {
  return `import { Controller, Field, Get, Item, notFound, Page, Paginate, Patch, Post, Query, select, Session } from 'sequitur'
import { Thing${number} } from './models${Math.floor(number / GROUP)}.js'

class ThingInput${number} {
  @Field({ minLength: 1, maxLength: 80 }) name!: string
  @Field({ maxLength: 500, optional: true }) note?: string
  @Field({ type: 'integer', minimum: 0, maximum: ${1000 + number} }) quantity!: number
  @Field({ minimum: 0 }) price!: number
  @Field() opened_at!: Date
}
class ThingChange${number} {
  @Field({ minLength: 1, maxLength: 80, pattern: /^[A-Z][a-z]+[0-9]*$/ }) name!: string
  @Field({ optional: true }) open?: boolean
}
class ThingOutput${number} extends ThingInput${number} {
  @Field({ type: 'integer' }) id!: number
  @Field() open!: boolean
}

@Controller('/things${number}')
export class ThingController${number} {
${Array.from({ length: routes }, (_, route) => handler(number, route)).join('\n')}
}
`
}

function handler(number: number, route: number): string {
  const path = route < 4 ? '' : `/more${Math.floor(route / 4)}`
  switch (route % 4) {
    case 0:
      return `  @Get('${path || '/'}', Page.of(ThingOutput${number}))
  list${route}(paginate: Paginate<ThingOutput${number}>, @Query({ optional: true }) open: boolean) {
    return paginate(select(Thing${number}, { where: open === undefined ? {} : { open }, order: ['id'] }))
  }`
    case 1:
      return `  @Get('${path}/:id', Item.of(ThingOutput${number}), { errors: { 404: 'Not found' } })
  async get${route}(id: number, session: Session) {
    return { data: (await session.get(Thing${number}, id)) ?? notFound('Not found') }
  }`
    case 2:
      return `  @Post('${path || '/'}', Item.of(ThingOutput${number}))
  async create${route}(input: ThingInput${number}, session: Session) {
    const thing = session.add(Thing${number}.build({ ...input }))
    await session.flush()
    return { data: thing }
  }`
    default:
      return `  @Patch('${path}/:id', Item.of(ThingOutput${number}))
  async change${route}(id: number, change: ThingChange${number}, session: Session) {
    const thing = (await session.get(Thing${number}, id)) ?? notFound('Not found')
    await thing.update({ ...change })
    return { data: thing }
  }`
  }
}

function app(numbers: readonly number[]): string {
  const names = (name: string) => numbers.map((number) => `${name}${number}`)
  return `import { createApp, newLifespan } from 'sequitur'
${numbers.map((number) => `import { ThingController${number} } from './resource${number}.js'`).join('\n')}
${numbers
  .filter((number) => number % GROUP === 0)
  .map((first) => `import * as models${first / GROUP} from './models${first / GROUP}.js'`)
  .join('\n')}

export const models = [${numbers.filter((number) => number % GROUP === 0).map((first) => `...Object.values(models${first / GROUP})`)}]
export const controllers = [${names('ThingController').join(', ')}]
export const newApp = (sync: boolean) =>
  createApp({ controllers, models, lifespan: newLifespan(undefined, { sync }), health: true })
`
}
