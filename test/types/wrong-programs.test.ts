import assert from 'node:assert/strict'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { tscCommand } from '../support/project.js'
import { execFile } from 'node:child_process'

/*
 * Programs whose types lie. The compiler must refuse each of them, with a message that states the mistake.
 */

const repository = join(import.meta.dirname, '../..')

const prelude = `
import { Base, Body, Collection, dto, Field, Get, Header, Inject, Injectable, Item, newPagination, oneOf, Page, Paginate, Path, Post, Query, reply, Reply, select, Session, sql, token, UncountedPage } from 'sequitur'
import type { PaginateType } from 'sequitur'
import { CursorPage, CursorPaginate, TwoWayPage } from 'sequitur/cursor'
import { Attempt, Job } from 'sequitur/jobs'
import { listOf } from 'sequitur/lists'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { z } from 'zod'

@Table({ tableName: 'hero', timestamps: false })
class Hero extends Base<Hero> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, allowNull: false }) declare name: string
}
class Out {
  @Field({ type: 'integer' }) id!: number
  @Field() name!: string
  @Field() title!: string
}
class Tag {
  @Field() label!: string
}
class Cat {
  @Field({ enum: ['cat'] }) kind!: 'cat'
}
class Dog {
  @Field({ enum: ['dog'] }) kind!: 'dog'
}
class Charge {
  @Field() account!: string
}
enum Colour { Red = 'red', Blue = 'blue' }
enum Size { Small, Large }
@Injectable()
class Clock {
  now = 'noon'
}
const greeting = token<string>('greeting')
const bigPages = newPagination({ maxPageSize: 500 })
type UserId = string & { readonly brand: 'UserId' }
interface Tree { id: string; children: Tree[] }
class TreeOut {
  @Field({ type: 'integer' }) id!: number
  @Field({ type: [() => TreeOut] }) children!: TreeOut[]
}
const out: Out = { id: 1, name: 'a', title: 'b' }
`

/** Members of a class, and what the compiler says of them: one message, or several. */
const wrong: readonly (readonly [members: string, ...messages: RegExp[]])[] = [
  // Conditions
  [`statement = select(Hero, { where: { id: 'x' } })`, /'string & NotComparableWith<number \| bigint>'/],
  [`statement = select(Hero, { where: { nam: 'x' } })`, /'string & NoAttribute<"nam">'/],
  // Lists
  [`list = listOf(Hero, { filter: { nam: ['eq'] } })`, /'nam' does not exist in type/],
  [`list = listOf(Hero, { filter: { id: ['contains'] } })`, /'"contains"' is not assignable to type/],
  [`list = listOf(Hero, { filter: { name: ['null'] } })`, /'"null"' is not assignable to type/],
  [`list = listOf(Hero, { filter: { 'team.city': ['eq'] } })`, /''team.city'' does not exist in type|'team\.city'/],
  [
    `list = listOf(Hero, { sort: ['nam'] })`,
    /'"nam"' is not assignable to type 'ListPath<Hero>'\. Did you mean '"name"'/,
  ],
  // Fields
  [
    `@Field({ type: 'integer' }) n!: string`,
    /declares other values than the type of the property.*declared: number.*written: string/,
  ],
  [`@Field({ type: 'number' }) n!: boolean`, /declared: number.*written: boolean/],
  [`@Field({ type: String }) n!: number`, /declared: string.*written: number/],
  [`@Field({ type: 'boolean' }) n!: string`, /declared: boolean.*written: string/],
  [`@Field({ type: 'bigint' }) n!: number`, /declared: bigint.*written: number/],
  [`@Field({ type: 'date-time' }) n!: number`, /declared: Date.*written: number/],
  [`@Field({ type: [String] }) n!: string`, /declared: string\[\].*written: string/],
  [`@Field({ type: [String] }) n!: number[]`, /declared: string\[\].*written: number\[\]/],
  [`@Field({ type: 'string' }) n!: string[]`, /declared: string.*written: string\[\]/],
  [`@Field({ type: [Tag] }) n!: Out[]`, /declared: Tag\[\].*written: Out\[\]/],
  [`@Field({ type: () => Tag }) n!: Out`, /declared: Tag.*written: Out/],
  [`@Field({ type: Tag }) n!: string`, /declared: Tag.*written: string/],
  [`@Field({ type: z.email() }) n!: number`, /declared: string.*written: number/],
  [`@Field({ enum: ['a', 'b'] }) n!: 'a'`, /declared: "a" \| "b".*written: "a"/],
  [`@Field({ enum: Colour }) n!: Size`, /declared: Colour.*written: Size/],
  [`@Field({ enum: ['a'] }) n!: number`, /declared: "a".*written: number/],
  [`@Field({ oneOf: [Cat, Dog], discriminator: 'kind' }) n!: Cat`, /declared: Cat \| Dog.*written: Cat/],
  [`@Field({ type: 'string', nullable: true }) n!: string`, /the value may be null: add '\| null' to the type/],
  [`@Field({ optional: true }) n!: string`, /the value may be missing: write a \? after the name/],
  [
    `@Field() n?: string`,
    /the '\?' does not exist at run time: write @Field\(\{ optional: true \}\), or an initial value/,
  ],
  [`@Field({ type: 'integer' }) n?: number`, /the '\?' does not exist at run time/],
  [`@Field() n!: 'asc' | 'desc'`, /any value of the base type would be accepted.*write \{ enum: \['a', 'b'\] \}/],
  [`@Field() n!: Colour`, /any value of the base type would be accepted/],
  [`@Field({ type: z.coerce.number() }) n!: string`, /declared: number.*written: string/],
  [`@Field({ type: z.coerce.date() }) n!: string`, /declared: Date.*written: string/],
  [`@Field({ default: 5 }) n!: string`, /the default is not one of the declared values.*default: 5.*declared: string/],
  [`@Field({ type: 'integer', default: '5' }) n!: number`, /default: "5".*declared: number/],
  [`@Field({ type: 'boolean', default: 'yes' }) n!: boolean`, /default: "yes".*declared: boolean/],
  [`@Field({ enum: ['a', 'b'], default: 'c' }) n!: 'a' | 'b'`, /default: "c".*declared: "a" \| "b"/],
  [`@Field({ enum: ['a', 'b'], default: ['c'] }) n!: ('a' | 'b')[]`, /default: readonly \["c"\]/],
  [`@Field({ enum: Colour, default: 'green' }) n!: Colour`, /default: "green".*declared: Colour/],
  [`@Field({ enum: Size, default: 7 }) n!: Size`, /default: 7.*declared: Size/],
  [`@Field({ type: [String], default: [1] }) n!: string[]`, /default: readonly \[1\].*declared: string\[\]/],
  [`@Field({ type: 'date-time', default: 5 }) n!: Date`, /default: 5.*declared: Date/],
  [`@Field({ type: Tag, default: 'a' }) n!: Tag`, /default: "a".*declared: Tag/],
  [`@Field({ type: z.coerce.number(), default: '5' }) n!: number`, /default: "5".*declared: number/],
  // Parameters
  [
    `@Get('/') m(@Query({ default: 3 }) x: string) { return x }`,
    /the default is not one of the declared values.*default: 3/,
  ],
  [`@Get('/') m(@Query('x', { enum: ['a'], default: 'b' }) x: 'a') { return x }`, /default: "b".*declared: "a"/],
  [`@Get('/') m(@Header({ type: [Number], default: ['a'] }) x: number[]) { return x }`, /default: readonly \["a"\]/],
  [
    `@Post('/') m(@Body({ type: z.object({ a: z.string() }) }) x: number) { return x }`,
    /the decorator declares other values than the type of the parameter.*declared: \{ a: string; \}.*written: number/,
  ],
  [`@Get('/') m(@Query({ type: [String] }) x: number) { return x }`, /declared: string\[\].*written: number/],
  [`@Get('/') m(@Query({ enum: ['a', 'b'] }) x: 'c') { return x }`, /declared: "a" \| "b".*written: "c"/],
  [`@Get('/') m(@Query({ optional: true }) x: number) { return x }`, /the value may be missing/],
  [`@Get('/') m(@Query('x', { optional: true, type: 'integer' }) x: number) { return x }`, /the value may be missing/],
  [`@Get('/') m(@Query({ nullable: true }) x: string) { return x }`, /the value may be null/],
  [`@Get('/') m(@Query() x: 'asc' | 'desc') { return x }`, /any value of the base type would be accepted/],
  [`@Get('/') m(@Query() x: Size) { return x }`, /any value of the base type would be accepted/],
  [`@Get('/') m(@Query({ type: 'bigint' }) x: string) { return x }`, /declared: bigint.*written: string/],
  [`@Get('/') m(@Query({ type: 'date-time' }) x: string) { return x }`, /declared: Date.*written: string/],
  [`@Get('/:id') m(@Path({ type: z.uuid() }) id: number) { return id }`, /declared: string.*written: number/],
  [`@Get('/:id') m(@Path('id', { type: 'integer' }) key: string) { return key }`, /declared: number.*written: string/],
  [`@Get('/') m(@Header({ type: 'boolean' }) x: string) { return x }`, /declared: boolean.*written: string/],
  [`@Post('/') m(@Body({ type: [Tag] }) x: Tag) { return x }`, /declared: Tag\[\].*written: Tag/],
  [`@Post('/') m(@Body({ type: Tag }) x: Out) { return x }`, /declared: Tag.*written: Out/],
  [
    `@Post('/') m(@Body({ oneOf: [Cat, Dog], discriminator: 'kind' }) x: Dog) { return x }`,
    /declared: Cat \| Dog.*written: Dog/,
  ],
  [`constructor(@Query({ type: 'integer' }) readonly limit: string) {}`, /declared: number.*written: string/],
  [
    `@Get('/:id', { params: [Session, Number] }) m(session: Session, id: string) { return [session, id] }`,
    /^\S+ error TS1270: [^\n]*\{ readonly error: "params\[1\] has another type than the parameter\."; readonly declared: number; readonly written: string; \}[^\n]*\n$/,
  ],
  [
    `@Get('/:id', Out, { params: [Number] }) m(id: number, session: Session) { return [session, id] }`,
    /^\S+ error TS1270: [^\n]*"params and the parameters differ in number\."; readonly params: 1; readonly parameters: 2;[^\n]*\n$/,
  ],
  [
    `@Get('/:id', Out, { params: [Number] }) m(id: number) { return { ...out, id: String(id) } }`,
    /^\S+ error TS1270: [^\n]*HandlerMistake<"'id' is a string, but the response declares a number\.">[^\n]*\n$/,
  ],
  // Tokens
  [
    `@Get('/') m(@Inject(greeting) x: number) { return x }`,
    /the token provides another type than the parameter has.*injected: string.*parameter: number/,
  ],
  [
    `@Get('/') m(@Inject(Clock) x: string) { return x }`,
    /the token provides another type.*injected: Clock.*parameter: string/,
  ],
  [`constructor(@Inject(greeting) readonly x: Clock) {}`, /the token provides another type/],
  // Pages
  [
    `m(paginate: Paginate<Out>) { return paginate(select(Hero)) }`,
    /Property 'title' is missing in type 'Hero' but required in type 'Out'/,
  ],
  [
    `m(@Inject(bigPages) paginate: PaginateType<Out>) { return paginate(select(Hero)) }`,
    /Property 'title' is missing in type 'Hero'/,
  ],
  [
    `m(paginate: CursorPaginate<Out>) { return paginate(select(Hero, { order: ['id'] })) }`,
    /Property 'title' is missing in type 'Hero'/,
  ],
  [
    `m(paginate: Paginate<Out>) { return paginate(sql<{ id: number; name: string }>\`SELECT 1\`) }`,
    /Property 'title' is missing in type/,
  ],
  // Jobs
  [
    `@Job({ name: 'a', limit: { by: (input: { acount: string }) => input.acount, at: 1 } }) m(input: Charge) { return input }`,
    /error TS1270: [^\n]*"`by` of the limit takes another input than the method\."; readonly by: \{ acount: string; \}; readonly method: Charge; \}[^\n]*\n$/,
  ],
  [
    `@Job({ name: 'a', limit: { by: (input: Charge) => input.account, at: 1 } }) m(session: Session) { return session }`,
    /takes another input than the method.*method: Session/,
  ],
  [
    `@Job({ name: 'a', limit: { by: (input: Charge) => input.account, at: 1 } }) m() {}`,
    /takes another input than the method.*method: undefined/,
  ],
  [
    `m(attempt: Attempt) { return attempt.step('a', async () => new Date()).then((at) => at.getTime()) }`,
    /Property 'getTime' does not exist on type 'string'/,
  ],
  [
    `async m(attempt: Attempt) { const { hero } = await attempt.step('a', async () => ({ hero: Hero.build({ name: 'a' }) })); return hero.save() }`,
    /Property 'save' does not exist on type/,
  ],
]

/** Handlers that differ from their route, and the sentence of the compiler. */
const differing: readonly (readonly [members: string, sentence: string])[] = [
  // One property has another type
  [`@Get('/', Out) m() { return { ...out, id: '1' } }`, `'id' is a string, but the response declares a number`],
  [
    `@Get('/', Item.of(Out)) async m() { return { data: { ...out, name: 5 } } }`,
    `'data.name' is a number, but the response declares a string`,
  ],
  [
    `@Get('/', [Out]) m() { return [{ ...out, name: 5n }] }`,
    `'[].name' is a bigint, but the response declares a string`,
  ],
  [
    `@Get('/', Cat) m() { return { kind: 'cat' } }`,
    `'kind' is any string, but the response declares certain ones: write 'as const', or give it their type`,
  ],
  [
    `@Get('/', Cat) m() { return { kind: 'dog' } as const }`,
    `'kind' is 'dog', but the response declares other strings`,
  ],
  [
    `@Get('/', { out: Out, at: 'date-time' }) m() { return { out, at: 5 } }`,
    `'at' is a number, but the response declares a Date or a string`,
  ],
  [`@Get('/', String) m() { return 5 }`, `the result is a number, but the response declares a string`],
  [`@Get('/', Out) m() { return Out }`, `the result is a class, but the response declares an object`],
  [`@Get('/', TreeOut) m(tree: Tree) { return tree }`, `'id' is a string, but the response declares a number`],
  [
    `@Get('/', Out) m(): unknown { return out }`,
    `the result is of type unknown: give it the type that the response declares`,
  ],
  // A property is missing
  [
    `@Get('/', Item.of(Out)) m() { return { data: { id: 1, name: 'a' } } }`,
    `the object in 'data' has no 'title', which the response declares`,
  ],
  [
    `@Get('/', Out) async m() { return { id: 1, name: 'a' } }`,
    `the object has no 'title', which the response declares`,
  ],
  // Null, or undefined
  [
    `@Get('/', Item.of(Hero)) async m(session: Session) { return { data: await session.get(Hero, 1) } }`,
    `'data' may be null, which the response does not declare: write ?? notFound()`,
  ],
  [
    `@Get('/', Out) m() { return { ...out, title: null } }`,
    `'title' may be null, which the response does not declare: declare it { nullable: true }`,
  ],
  [
    `@Get('/', Out) m(title?: string) { return { ...out, title } }`,
    `'title' may be undefined, which the response does not declare: declare it { optional: true }`,
  ],
  [
    `@Get('/', Out) m(id: number) { return [out].find((one) => one.id === id) }`,
    `the result may be undefined, which the response does not declare: write ?? notFound()`,
  ],
  // A model where a plain type is declared, and the reverse
  [`@Get('/', Out) m() { return Hero.build({ name: 'a' }) }`, `the model has no 'title', which the response declares`],
  [
    `@Get('/', Collection.of(Out)) m() { return { data: [Hero.build({ name: 'a' })] } }`,
    `the model in 'data[]' has no 'title', which the response declares`,
  ],
  [
    `@Get('/', Item.of(Hero)) m() { return { data: { id: 1 } } }`,
    `the object in 'data' has no 'name', which the response declares`,
  ],
  // A list instead of { data }
  [
    `@Get('/', Collection.of(Out)) m() { return [out] }`,
    `a list is returned, but the response is an object with data: return { data }`,
  ],
  [
    `@Get('/', Page.of(Out)) m() { return [out] }`,
    `a list is returned, but the response is a page: return what paginate() returns, or declare Collection.of(...)`,
  ],
  [
    `@Get('/', [Out]) m() { return { data: [out] } }`,
    `an object with data is returned, but the response is data itself: return data, or declare Item.of(...) or Collection.of(...)`,
  ],
  // A forgotten await
  [
    `@Get('/', Item.of(Out)) async m(later: Promise<Out>) { return { data: later } }`,
    `'data' is a Promise: write await`,
  ],
  [`@Get('/', [Out]) async m(later: Promise<Out>) { return [later] }`, `'[]' is a Promise: write await`],
  [`@Get('/', Out) async m(later: Promise<Out>) { return reply(later) }`, `reply() has a Promise: write await`],
  // Another Page or Item
  [
    `@Get('/', Page.of(Out)) m(paginate: CursorPaginate<Out>) { return paginate(sql\`\` as never) }`,
    `a page by cursor is returned, but the response is a page with a total: the paginator and the declaration differ`,
  ],
  [
    `@Get('/', UncountedPage.of(Out)) m(paginate: Paginate<Out>) { return paginate(sql\`\`) }`,
    `a page with a total is returned, but the response is a page without a total: the paginator and the declaration differ`,
  ],
  [
    `@Get('/', TwoWayPage.of(Out)) m(paginate: CursorPaginate<Out>) { return paginate(sql\`\` as never) }`,
    `a page by cursor is returned, but the response is a page by cursor in both directions: the paginator and the declaration differ`,
  ],
  [
    `@Get('/', Page.of(Out)) m(paginate: Paginate<Tag>) { return paginate(sql\`\`) }`,
    `the object in 'data[]' has no 'id', which the response declares." | "the object in 'data[]' has no 'name', which the response declares." | "the object in 'data[]' has no 'title', which the response declares`,
  ],
  [`@Get('/', Page.of(Out)) m() { return { data: [out] } }`, `the object has no 'meta', which the response declares`],
  [
    `@Get('/', Item.of(Out)) async m() { return out }`,
    `a record is returned, but the response is an object with data: return { data }`,
  ],
  [
    `@Get('/', Out) m() { return { data: out } }`,
    `an object with data is returned, but the response is data itself: return data, or declare Item.of(...) or Collection.of(...)`,
  ],
  [
    `@Get('/', Collection.of(Out)) m() { return { data: out } }`,
    `'data' is an object, but the response declares a list`,
  ],
  [`@Get('/', Item.of(Out)) m() { return { data: [out] } }`, `'data' is a list, but the response declares an object`],
  // Nothing is returned
  [`@Get('/', Out) m() {}`, `nothing is returned: return the declared response, or remove its declaration`],
  [`@Get('/', Out) async m() {}`, `nothing is returned: return the declared response, or remove its declaration`],
  // reply()
  [
    `@Get('/', Out) async m() { return reply({ id: 1, name: 'a' }) }`,
    `reply(): the object has no 'title', which the response declares`,
  ],
  [
    `@Get('/', Out) m() { return reply(undefined, { status: 204 }) }`,
    `reply() has no value, but each status has a type: describe this one by a text, { responses: { 204: 'No hero' } }`,
  ],
  [
    `@Get('/', Out, { responses: { 202: Tag } }) m() { return { label: 'a' } }`,
    `the result has the type of another status: return reply(value, { status })`,
  ],
  [`@Get('/', Item.of(Out)) m() { return { data: reply(out) } }`, `'data' is a Reply: return reply({ data })`],
  // Each member of a union has its sentence
  [
    `@Get('/', Out) async m(id: number) { return id === 1 ? reply({ ...out, id: '1' }) : id === 2 ? null : out }`,
    `reply(): 'id' is a string, but the response declares a number." | "the result may be null, which the response does not declare: write ?? notFound()`,
  ],
]

/** Members that compile: what must not be refused by mistake. */
const right: readonly string[] = [
  `list = listOf(Hero, { filter: { id: ['gte', 'in'], name: ['eq', 'contains'] }, sort: ['name'], defaultSort: ['-name'], fields: true })`,
  `@Field({ type: 'string' }) n!: UserId`,
  `@Field({ type: 'bigint' }) n!: string`,
  // In a response; an input of these stops the start.
  `@Field({ type: 'date-time' }) n!: string`,
  `@Field({ type: 'date' }) n!: Date`,
  `@Field({ type: 'any' }) n!: { a: number }`,
  `@Field({ enum: ['a', 'b'] }) n!: 'a' | 'b' | 'c'`,
  `@Field({ enum: ['a', 'b'] }) n!: string`,
  `@Field({ enum: ['a', 'b'] }) n!: ('a' | 'b')[]`,
  `@Field({ enum: Colour, optional: true }) n?: Colour`,
  `@Field({ enum: Size }) n!: Size`,
  `@Field({ type: 'string', nullable: true }) n!: string | null`,
  `@Field({ type: z.string().optional() }) n?: string`,
  `@Field({ default: 5 }) n!: number`,
  `@Field({ default: 5 }) n?: number`,
  `@Field() n: number = 5`,
  `@Field({ type: [Tag] }) readonly n!: readonly Tag[]`,
  `@Field({ type: () => Tag, optional: true }) n?: Tag`,
  `@Field({ oneOf: [Cat, () => Dog], discriminator: 'kind' }) n!: Cat | Dog`,
  `@Field({ type: oneOf([Cat, Dog], { discriminator: 'kind' }) }) n!: Cat | Dog`,
  `@Field({ type: Hero }) n!: Hero`,
  `@Field({ type: 'bytes' }) n!: Buffer`,
  `@Get('/') m(@Query() filter: Tag, @Header() accept_language: string, @Query({ optional: true }) age?: number) { return [filter, accept_language, age] }`,
  `@Get('/') m(@Query({ enum: ['asc', 'desc'] }) order = 'asc', @Query({ type: 'integer', default: 1 }) n: number) { return [order, n] }`,
  `@Post('/') m(@Body({ type: z.object({ a: z.coerce.date() }) }) x: { a: Date }) { return x }`,
  `@Post('/') m(@Body({ type: 'any' }) x: unknown, @Query({ type: [String] }) tag: readonly string[]) { return [x, tag] }`,
  `private m(@Query({ type: 'integer' }) n: number) { return n }`,
  `constructor(@Query({ type: 'integer' }) readonly limit: number, @Inject(greeting) readonly text: string) {}`,
  `@Get('/', Item.of(Out)) async m(id: number) { return id === 1 ? reply({ data: { id, name: 'a', title: 'b' } }) : { data: { id, name: 'a', title: 'b' } } }`,
  `@Get('/') m(id: number): number | Promise<string> { return id }`,
  `@Get('/', Out) never(): never { throw new Error('no') }`,
  `@Get('/', Out) any() { return JSON.parse('') }`,
  `@Get('/', Item.of(Out)) async any() { return { data: JSON.parse('') } }`,
  `@Get('/', Out) m(any: any): Reply<any> | Promise<Out> { return any }`,
  `m(paginate: Paginate<{ id: number; name: string }>) { return paginate(select(Hero)) }`,
  `@Field({ type: z.coerce.number() }) n!: number`,
  `@Field({ type: z.iso.datetime().transform((text) => new Date(text)) }) n!: Date`,
  `@Field({ type: z.codec(z.iso.datetime(), z.date(), { decode: (text) => new Date(text), encode: (date) => date.toISOString() }) }) n!: string`,
  `@Field({ default: 'a' }) n!: UserId`,
  `@Field({ type: 'string', default: 'a' }) n!: UserId`,
  `@Field({ enum: ['a', 'b'], default: 'a' }) n!: 'a' | 'b'`,
  `@Field({ enum: ['a', 'b'], default: ['a'] }) n!: ('a' | 'b')[]`,
  `@Field({ enum: Colour, default: Colour.Red }) n!: Colour`,
  `@Field({ enum: Colour, default: 'red' }) n!: Colour`,
  `@Field({ enum: Size, default: Size.Small }) n!: Size`,
  `@Field({ type: [String], default: [] }) n!: string[]`,
  `@Field({ type: [Tag], default: [{ label: 'a' }] }) n!: Tag[]`,
  `@Field({ type: Tag, default: { label: 'a' } }) n!: Tag`,
  `@Field({ type: 'date-time', default: '2026-01-31T00:00:00Z' }) n!: Date`,
  `@Field({ type: 'date-time', default: new Date(0) }) n!: Date`,
  `@Field({ type: 'date', default: '2026-01-31' }) n!: string`,
  `@Field({ type: 'bigint', default: 5n }) n!: bigint`,
  `@Field({ type: 'decimal', default: '1.5' }) n!: string`,
  `@Field({ type: 'any', default: { a: 1 } }) n!: unknown`,
  `@Field({ type: 'string', nullable: true, default: null }) n!: string | null`,
  `@Field({ type: z.number(), default: 5 }) n!: number`,
  `@Field({ default: true }) n!: boolean`,
  `@Field({ default: 'a', optional: true }) n?: string`,
  `@Get('/') m(@Query({ enum: ['asc', 'desc'], default: String(greeting) }) order: string) { return order }`,
  // Jobs
  `@Job({ name: 'a', limit: { by: (input: Charge) => input.account, at: 1 } }) m(input: Charge, session: Session) { return [input, session] }`,
  `@Job({ name: 'a', limit: { by: (input: { account: string }) => input.account, at: 1 } }) async m({ account }: Charge) { return account }`,
  `@Job({ name: 'a', limit: { by: () => 'all', at: 1 } }) m() {}`,
  `@Job({ name: 'a' }) private m(session: Session) { return session }`,
  `async m<T extends { readonly id: string }>(attempt: Attempt, one: T) { return attempt.step('a', async () => one) }`,
  // Generic classes
  ...[
    `class G<T> { @Field({ type: 'any' }) n!: T }`,
    `class G { @Field({ type }) n!: T }`,
    `class G { @Field({ type, nullable: true }) n!: T | null }`,
    `class G { @Field({ type, optional: true }) n?: T }`,
    `class G { @Field({ type: [type] }) n!: T[] }`,
    `class G { @Field({ type: [type], default: [] }) n!: T[] }`,
    `class G { @Field({ type: () => type }) n!: T }`,
    `class G { @Post('/') m(@Body({ type }) input: T) { void input } }`,
    `class G { @Post('/') m(@Body({ type: 'any' }) input: T) { void input } }`,
  ].map((declared) => `m<T extends object>(type: new () => T) { ${declared}; return [G, type] }`),
]

/** A handler of a generic class may return what has the type of its parameter. */
const generic = `generic<T extends Out>() { class G { @Get('/', Item.of(Out)) async m(out: T) { return { data: out } } } return G }`

/** The line of the first program. */
const FIRST_LINE = prelude.split('\n').length + 1

const programs = [...wrong.map(([members]) => members), ...differing.map(([members]) => members), ...right, generic]

const compilers = {
  'TypeScript 7': (folder: string) => [tscCommand, '--pretty', 'false', '-p', folder],
  'TypeScript 5.9': (folder: string) => [
    join(repository, 'test/support/check-one-file.js'),
    join(repository, 'test/client/node_modules/typescript'),
    folder,
    'programs.ts',
  ],
}

for (const [compiler, argumentsFor] of Object.entries(compilers))
  describe(compiler, () => {
    let messages: ReadonlyMap<number, string>
    before(async () => {
      const folder = await writePrograms()
      messages = await compile(folder, argumentsFor(folder))
      await rm(folder, { recursive: true })
    })

    test('the compiler finds nothing wrong outside of the programs', () => {
      assert.equal(messages.get(-1), undefined)
    })

    for (const [index, [members, ...expected]] of wrong.entries())
      test(`does not compile, with a sentence: ${members}`, () => {
        for (const message of expected) assert.match(messages.get(index) ?? 'it compiled', message)
      })

    for (const [index, [members, sentence]] of differing.entries())
      test(`does not compile, with one line: ${members}`, () => {
        const [line = 'it compiled', ...more] =
          messages
            .get(wrong.length + index)
            ?.trimEnd()
            .split('\n') ?? []
        const found =
          /: error TS1270: Decorator function return type 'HandlerMistake<(".*\.")>' is not assignable /.exec(line)?.[1]
        assert.deepEqual((found ?? line).split(' | ').toSorted(), `"${sentence}."`.split(' | ').toSorted())
        assert.deepEqual(more, [])
      })

    for (const [index, members] of [...right, generic].entries())
      test(`compiles: ${members}`, () => {
        assert.equal(messages.get(wrong.length + differing.length + index), undefined)
      })
  })

/** A project with one program on each line after the prelude. */
async function writePrograms(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sequitur-types-'))
  await symlink(join(repository, 'node_modules'), join(folder, 'node_modules'))
  const source = (name: string) => [join(repository, 'src', `${name}.ts`)]
  const compilerOptions = {
    noEmit: true,
    paths: {
      sequitur: source('index'),
      'sequitur/cursor': source('cursor'),
      'sequitur/jobs': source('jobs'),
      'sequitur/lists': source('lists'),
    },
    typeRoots: [join(repository, 'node_modules/@types')],
    types: ['node'],
  }
  const tsconfig = {
    extends: join(repository, 'tsconfig.json'),
    compilerOptions,
    include: ['programs.ts'],
    exclude: [],
  }
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig))
  const classes = programs.map((members, index) => `export class Program${index} { ${members} }`)
  await writeFile(join(folder, 'programs.ts'), [prelude, ...classes].join('\n'))
  return folder
}

/** The messages of the compiler by the index of the program. */
function compile(folder: string, args: readonly string[]): Promise<ReadonlyMap<number, string>> {
  const found = new Map<number, string>()
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: folder, maxBuffer: 10_000_000 }, (_error, stdout, stderr) => {
      if (stderr) found.set(-1, stderr)
      let index = 0
      for (const line of stdout.split('\n')) {
        const at = /^(.*?)\((\d+),\d+\): error/.exec(line)
        if (at) index = at[1] === 'programs.ts' ? Math.max(Number(at[2]) - FIRST_LINE, -1) : -1
        if (line !== '') found.set(index, `${found.get(index) ?? ''}${line}\n`)
      }
      resolve(found)
    })
  })
}
