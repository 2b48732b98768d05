import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  col,
  fn,
  literal,
  Op,
  where as sqlWhere,
  type Attributes,
  type FindOptions,
  type WhereOptions,
  type CreationOptional,
} from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import {
  Base,
  Collection,
  Controller,
  createApp,
  dto,
  events,
  Events,
  Field,
  file,
  Get,
  Inject,
  Injectable,
  Item,
  newPagination,
  oneOf,
  Page,
  Paginate,
  type PaginateType,
  Post,
  redirect,
  reply,
  select,
  Session,
  sql,
  token,
  UncountedPage,
} from 'sequitur'
import { newCursorPagination, CursorPage, CursorPaginate, TwoWayPage } from 'sequitur/cursor'
import { memoryDatabase } from 'sequitur/testing'

/*
 * Read by the compiler: each @ts-expect-error is a mistake that must not compile, all else must.
 * The one test that runs shows that what compiles also boots.
 */

@Table({ tableName: 'hero', timestamps: false })
class Hero extends Base<Hero> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, allowNull: false }) declare name: string
  @Column({ type: DataType.INTEGER, allowNull: false }) declare age: number
}

@Table({ tableName: 'team', timestamps: false })
class Team extends Base<Team> {
  @Column({ type: DataType.STRING, primaryKey: true }) declare title: string
}

async function* ticks() {
  yield { data: { id: 1, name: 'Robin' } }
}

class HeroModel {
  @Field({ type: 'integer' }) id!: number
  @Field() name!: string
}

class HeroInput {
  @Field() name!: string
}

class Cat {
  @Field({ enum: ['cat'] }) kind!: 'cat'
  @Field({ type: 'integer' }) lives!: number
}
class Dog {
  @Field({ enum: ['dog'] }) kind!: 'dog'
  @Field() name!: string
}
const Pet = oneOf([Cat, () => Dog], { discriminator: 'kind', name: 'Pet' })
const cat: Cat = { kind: 'cat', lives: 9 }

// @ts-expect-error: not every class has lives
oneOf([Cat, Dog], { discriminator: 'lives' })

class HeroView extends dto(Hero, { pick: ['id', 'name'] }) {}

const meta = { offset: 0, total_items: 0, total_pages: 0, page_number: 1 }
const hero: HeroModel = { id: 1, name: 'Robin' }

@Controller('/right')
class RightResults {
  @Get('/page', Page.of(HeroModel)) page() {
    return { data: [hero], meta }
  }
  @Get('/item', Item.of(HeroModel)) async item() {
    return { data: hero }
  }
  @Get('/item-of-model', Item.of(HeroModel)) itemOfModel() {
    return { data: Hero.build({ name: 'Robin', age: 1 }) }
  }
  @Get('/collection', Collection.of(HeroModel)) collection() {
    return { data: [hero] }
  }
  @Get('/class', HeroModel) plain() {
    return hero
  }
  @Get('/list', [HeroModel]) list() {
    return [hero]
  }
  @Get('/more', HeroModel) more() {
    return { ...hero, secret: 'not sent' }
  }
  @Get('/reply', HeroModel) reply() {
    return reply(hero, { headers: { 'x-hero': '1' } })
  }
  @Get('/several', HeroModel, { responses: { 202: HeroInput, 303: 'Elsewhere' } }) several(wait: boolean) {
    return wait ? reply({ name: 'Robin' }, { status: 202 }) : redirect('/')
  }
  @Get('/described', HeroModel, { responses: { 204: 'No hero' } }) described(none: boolean) {
    return none ? reply(undefined, { status: 204 }) : hero
  }
  @Get('/described-first', HeroModel, { responses: { 202: HeroInput, 204: 'No hero' } }) async describedFirst() {
    return reply(undefined, { status: 204 })
  }
  @Get('/events', Events.of(HeroModel), { responses: { 204: 'No more events' } }) events(last: boolean) {
    return last ? reply(undefined, { status: 204 }) : events(ticks())
  }
  @Get('/models', Collection.of(Hero)) models() {
    return { data: [Hero.build({ name: 'Robin', age: 1 }), { id: 1, name: 'Robin', age: 1 }] }
  }
  @Get('/view', [HeroView]) view() {
    return [Hero.build({ name: 'Robin', age: 1 }), { id: 1, name: 'Robin' }]
  }
  @Get('/cursor', CursorPage.of(HeroModel)) cursor() {
    return { data: [hero], meta: { next_cursor: null } }
  }
  @Get('/list-of-pets', [Pet]) listOfPets(): Promise<(Cat | Dog)[]> {
    return Promise.resolve([cat])
  }
  @Get('/pet', Pet) pet(): Cat | Dog {
    return cat
  }
  @Get('/pets', Page.of(Pet)) pets() {
    return { data: [cat, { kind: 'dog', name: 'Rex' } as const], meta }
  }
  @Get('/file', { produces: 'image/png' }) picture() {
    return file('./hero.png')
  }
  @Get('/undeclared') undeclared() {
    return { anything: true }
  }
}

export class Redirects {
  @Get('/here', { status: 303 }) here(next: string) {
    return next === '' ? redirect(`/heroes/${next}`, 303) : redirect(next, { status: 303, external: next === '/' })
  }
  @Get('/there', { status: 303 }) there(id: string) {
    const url = new URL('https://other.example/')
    return id === '' ? redirect(url, { external: true }) : redirect(`https://other.example/${id}`, { external: true })
  }
  @Get('/wrong', { status: 303 }) wrong(id: string) {
    // @ts-expect-error: another site
    if (id === '1') return redirect('https://other.example/')
    // @ts-expect-error: another site
    if (id === '2') return redirect(`//other.example/${id}`, 307)
    // @ts-expect-error: a URL names a site
    return redirect(new URL('https://other.example/'))
  }
}

export class WrongResults {
  // @ts-expect-error: the data of a page is a list
  @Get('/page', Page.of(HeroModel)) page() {
    return { data: hero, meta }
  }
  // @ts-expect-error: a page has its meta
  @Get('/meta', Page.of(HeroModel)) meta() {
    return { data: [hero] }
  }
  // @ts-expect-error: an item has data
  @Get('/item', Item.of(HeroModel)) item() {
    return hero
  }
  // @ts-expect-error: null is no hero
  @Get('/null', Item.of(HeroModel)) async nothing() {
    return { data: null as HeroModel | null }
  }
  // @ts-expect-error: a collection has a list
  @Get('/collection', Collection.of(HeroModel)) collection() {
    return { data: hero }
  }
  // @ts-expect-error: the name is missing in the reply
  @Get('/reply', HeroModel) reply() {
    return reply({ id: 1 })
  }
  // @ts-expect-error: no status has a title
  @Get('/several', HeroModel, { responses: { 202: HeroInput, 303: 'Elsewhere' } }) async several() {
    return reply({ title: 'Robin' }, { status: 202 })
  }
  // @ts-expect-error: no status is described, so that none has no value
  @Get('/undescribed', HeroModel, { responses: { 202: HeroInput } }) undescribed() {
    return reply(undefined, { status: 202 })
  }
  // @ts-expect-error: a described status is answered by a reply
  @Get('/undefined', HeroModel, { responses: { 204: 'No hero' } }) undefined() {
    return undefined
  }
  // @ts-expect-error: another status is answered by a reply
  @Get('/bare', HeroModel, { responses: { 202: HeroInput } }) bare() {
    return { name: 'Robin' }
  }
  // @ts-expect-error: the name is missing
  @Get('/class', HeroModel) plain() {
    return { id: 1 }
  }
  // @ts-expect-error: the id is a number
  @Get('/type', HeroModel) type() {
    return { ...hero, id: '1' }
  }
  // @ts-expect-error: a list was declared
  @Get('/list', [HeroModel]) list() {
    return hero
  }
  // @ts-expect-error: another model's rows
  @Get('/model', Item.of(HeroModel)) model() {
    return { data: Team.build({ title: 'a' }) }
  }
  // @ts-expect-error: a hero has a name
  @Get('/models', Collection.of(Hero)) models() {
    return { data: [{ id: 1, age: 1 }] }
  }
  // @ts-expect-error: the view has a name
  @Get('/view', [HeroView]) view() {
    return [{ id: 1 }]
  }
  // @ts-expect-error: a page by cursor has a cursor
  @Get('/cursor', CursorPage.of(HeroModel)) cursor() {
    return { data: [hero], meta }
  }
  // @ts-expect-error: a list of pets was declared
  @Get('/list-of-pets', [Pet]) listOfPets(): Cat | Dog {
    return cat
  }
  // @ts-expect-error: a cat has lives, not a name
  @Get('/pet', Pet) pet() {
    return { kind: 'cat', name: 'Tom' } as const
  }
  // @ts-expect-error: no pet is a bird
  @Get('/pets', Collection.of(Pet)) pets() {
    return { data: [cat, { kind: 'bird' } as const] }
  }
  // @ts-expect-error: nothing is returned
  @Get('/void', HeroModel) nothingAtAll() {}
}

@Injectable()
class Clock {
  now = 'noon'
}
const greeting = token<string>('greeting')
const bigPages = newPagination({ maxPageSize: 500 })

export class RightTokens {
  constructor(
    @Inject(Clock) readonly clock: Clock,
    @Inject(greeting) private readonly text: string,
    @Inject(greeting) readonly either: string | number,
  ) {}
  visible(@Inject(Clock) _clock: Clock, @Inject(greeting) _text: string, @Inject(greeting) _any: unknown) {
    return [this.text, this.hidden]
  }
  paged(@Inject(bigPages) _paginate: PaginateType<HeroModel>, @Inject(Session) _session: Session) {}
  protected guarded(@Inject(greeting) _text: string) {}
  private hidden(@Inject(Clock) _clock: Clock, @Inject(greeting) _text: string) {}
}

export class WrongTokens {
  constructor(
    // @ts-expect-error: a text is no clock
    @Inject(greeting) readonly clock: Clock,
  ) {}
  wrong(
    // @ts-expect-error: a clock is no text
    @Inject(Clock) _text: string,
    // @ts-expect-error: a text is no number
    @Inject(greeting) _number: number,
    // @ts-expect-error: a paginator is no session
    @Inject(bigPages) _session: Session,
  ) {}
}

export class RightParams {
  @Get('/:id', { params: [Number, Session] }) get(_id: number, _session: Session) {}
  @Get('/', Page.of(HeroModel), { params: [Paginate, Session] }) list(
    paginate: Paginate<HeroModel>,
    _session: Session,
  ) {
    return paginate(select(Hero))
  }
  @Post('/', { params: [HeroInput, greeting, String, Boolean] })
  add(_input: HeroInput, _text: string, _name: string, _flag: boolean) {}
  @Get('/none', { params: [] }) none() {}
  @Get('/optional', { params: [Session, Number] }) optional(_session: Session, _limit?: number) {}
}

export class WrongParams {
  // @ts-expect-error: swapped
  @Get('/swapped', { params: [Session, Number] }) swapped(_id: number, _session: Session) {}
  // @ts-expect-error: too few
  @Get('/few', { params: [Number] }) few(_id: number, _session: Session) {}
  // @ts-expect-error: too many
  @Get('/many', { params: [Number, Session] }) many(_id: number) {}
  // @ts-expect-error: another primitive
  @Get('/primitive', { params: [String] }) primitive(_id: number) {}
  // @ts-expect-error: another class
  @Post('/class', { params: [HeroInput] }) other(_clock: Clock) {}
  // @ts-expect-error: another token
  @Get('/token', { params: [greeting] }) token(_id: number) {}
  // @ts-expect-error: the result is checked as well
  @Get('/result', HeroModel, { params: [Number] }) result(id: number) {
    return { id }
  }
}

class BigPages<T> extends newPagination({ defaultPageSize: 5, maxPageSize: 500 })<T> {}
class Pages extends newPagination() {}
class Uncounted<T> extends newPagination({ count: false })<T> {}
class Doubled extends newPagination({ map: ({ id, name }: Hero) => ({ id: id * 2, name }) }) {}
@Injectable()
class Reversed {
  mapPage(heroes: Hero[]): HeroModel[] {
    return heroes.map(({ id, name }) => ({ id, name })).toReversed()
  }
}
class BothWays<T> extends newCursorPagination({ prevCursor: true })<T> {}
class ReversedPages extends newPagination({ mapPage: Reversed, count: false }) {}

@Controller('/heroes')
class Paginated {
  @Get('/', Page.of(HeroModel)) list(paginate: Paginate<HeroModel>) {
    return paginate(select(Hero))
  }
  @Get('/big', Page.of(HeroModel)) big(paginate: BigPages<HeroModel>) {
    return paginate(select(Hero))
  }
  @Get('/plain', Page.of(HeroModel)) plain(paginate: Pages) {
    return paginate(select(Hero))
  }
  @Get('/injected', Page.of(HeroModel)) injected(@Inject(bigPages) paginate: PaginateType<HeroModel>) {
    return paginate(select(Hero))
  }
  @Get('/uncounted', UncountedPage.of(HeroModel)) uncounted(paginate: Uncounted<HeroModel>) {
    return paginate(select(Hero))
  }
  @Get('/doubled', Page.of(HeroModel)) doubled(paginate: Doubled) {
    return paginate(select(Hero))
  }
  @Get('/both', TwoWayPage.of(HeroModel)) both(paginate: BothWays<HeroModel>) {
    return paginate(select(Hero, { order: ['name'] }))
  }
  @Get('/reversed', UncountedPage.of(HeroModel)) reversed(paginate: ReversedPages) {
    return paginate(select(Hero))
  }
}

interface HeroRow {
  id: number
  name: string
  age: number
}
interface TeamRow {
  title: string
}
class ShortHero extends dto(Hero, { pick: ['name', 'age'] }) {}

export class RightPages {
  @Get('/model', Page.of(Hero)) model(paginate: Paginate<Hero>) {
    return paginate(select(Hero))
  }
  @Get('/dto', Page.of(ShortHero)) dto(paginate: Paginate<ShortHero>) {
    return paginate(select(Hero))
  }
  @Get('/cursor', CursorPage.of(HeroModel)) cursor(paginate: CursorPaginate<HeroModel>) {
    return paginate(select(Hero, { order: ['name'] }))
  }
  @Get('/text', Page.of(HeroModel)) text(paginate: Paginate<HeroModel>) {
    return paginate(sql<HeroRow>`SELECT id, name, age FROM hero`)
  }
  @Get('/literal', Page.of(HeroModel)) literal(paginate: PaginateType<HeroModel>) {
    return paginate(sql<{ id: number; name: string }>`SELECT id, name FROM hero`)
  }
  @Get('/dto-text', Page.of(ShortHero)) dtoText(paginate: Paginate<ShortHero>) {
    return paginate(sql<ShortHero>`SELECT name, age FROM hero`)
  }
  @Get('/untyped', Page.of(HeroModel)) untyped(paginate: Paginate<HeroModel>) {
    return paginate(sql`SELECT id, name FROM hero`)
  }
  async look(paginate: Paginate<Hero>): Promise<Hero[]> {
    return (await paginate(select(Hero))).data
  }
}

export class WrongPages {
  model(paginate: Paginate<HeroModel>) {
    // @ts-expect-error: another model's rows
    return paginate(select(Team))
  }
  own(@Inject(bigPages) paginate: PaginateType<HeroModel>) {
    // @ts-expect-error: another model's rows
    return paginate(select(Team))
  }
  big(paginate: BigPages<HeroModel>) {
    // @ts-expect-error: another model's rows
    return paginate(select(Team))
  }
  cursor(paginate: CursorPaginate<HeroModel>) {
    // @ts-expect-error: another model's rows
    return paginate(select(Team, { order: ['title'] }))
  }
  text(paginate: Paginate<HeroModel>) {
    // @ts-expect-error: another table's rows
    return paginate(sql<TeamRow>`SELECT title FROM team`)
  }
  literal(paginate: Paginate<HeroModel>) {
    // @ts-expect-error: the id is a number
    return paginate(sql<{ id: string; name: string }>`SELECT title AS id, title AS name FROM team`)
  }
  cursorOfText(paginate: CursorPaginate<HeroModel>) {
    // @ts-expect-error: a text does not tell its order
    return paginate(sql<HeroRow>`SELECT id, name, age FROM hero`)
  }
  // @ts-expect-error: a page without a total, declared with one
  @Get('/total', Page.of(HeroModel)) total(paginate: Uncounted<HeroModel>) {
    return paginate(select(Hero))
  }
  // @ts-expect-error: a page with a total, declared without one
  @Get('/uncounted', UncountedPage.of(HeroModel)) uncounted(paginate: Paginate<HeroModel>) {
    return paginate(select(Hero))
  }
  // @ts-expect-error: a page in one direction, declared as one in both
  @Get('/two-way', TwoWayPage.of(HeroModel)) twoWay(paginate: CursorPaginate<HeroModel>) {
    return paginate(select(Hero, { order: ['name'] }))
  }
  counts() {
    class Wrong {
      count() {
        return 'many'
      }
    }
    // @ts-expect-error: count returns a number
    newPagination({ count: Wrong })
    // @ts-expect-error: count is never true
    newPagination({ count: true })
    // @ts-expect-error: one of them
    newPagination({ map: (hero: Hero) => hero.id, mapPage: (heroes: Hero[]) => heroes })
  }
  // @ts-expect-error: a page by offset, declared as one by cursor
  @Get('/', CursorPage.of(HeroModel)) style(paginate: Paginate<HeroModel>) {
    return paginate(select(Hero))
  }
}

export function conditions(where: WhereOptions<Attributes<Hero>>, options: FindOptions<Attributes<Hero>>): object[] {
  return [
    select(Hero, { where }),
    select(Hero, options),
    select<Hero>(Hero, { where: { age: 1 } }),
    select(Hero, { where: { age: 1, '$team.name$': 'x', $age$: 1, 'age::text': '1' } }),
    select(Hero, { where: { age: [1, 2], name: { [Op.like]: 'x%' } } }),
    select(Hero, { where: { age: { [Op.in]: [1, 2], [Op.gt]: 1, [Op.or]: [1, null], [Op.like]: '1%' } } }),
    select(Hero, { where: { age: { [Op.eq]: fn('abs', col('age')), [Op.gt]: { [Op.col]: 'size' } } } }),
    select(Hero, { where: { age: literal('1'), [Op.or]: [{ age: 1 }, literal('true'), { [Op.not]: { age: 2 } }] } }),
    select(Hero, { where: literal('true') }),
    select(Hero, { where: sqlWhere(col('age'), 1) }),
    select(Hero, { where: [{ age: 1 }, sqlWhere(fn('lower', col('name')), 'x')] }),
  ]
}

export async function sessions(session: Session) {
  const found: Hero | null = await session.get(Hero, 1)
  // @ts-expect-error: it may be null
  const sure: Hero = await session.get(Hero, 1)
  // @ts-expect-error: another model
  const team: Team | null = await session.get(Hero, 1)
  // @ts-expect-error: no such column
  select(Hero, { where: { agee: 1 } })
  // @ts-expect-error: a string, for a number
  select(Hero, { where: { age: 'x' } })
  // @ts-expect-error
  select(Hero, { where: { age: ['x'] } })
  // @ts-expect-error
  select(Hero, { where: { age: { [Op.gt]: 'x' } } })
  // @ts-expect-error
  select(Hero, { where: { age: { [Op.or]: [1, 'x'] } } })
  // @ts-expect-error
  select(Hero, { where: { [Op.or]: [{ age: 1 }, { age: 'x' }] } })
  // @ts-expect-error
  select(Hero, { where: [{ age: 'x' }] })
  // @ts-expect-error: no such option
  select(Hero, { wher: {} })
  const heroes: Hero[] = await session.all(select(Hero, { where: { age: 1 }, limit: 1 }))
  return [found, sure, team, heroes]
}

class NewHero extends dto(Hero, { omit: ['id'] }) {}
class HeroName extends dto(HeroModel, { pick: ['name'] }) {}
class HeroPatch extends dto(Hero, { pick: ['age'], partial: true }) {}
class WholeHero extends dto(Hero, {}) {}

export function derived(created: NewHero, name: HeroName, patch: HeroPatch, whole: WholeHero) {
  const age: number | undefined = patch.age
  const id: number | undefined = whole.id
  Hero.build(created)
  // @ts-expect-error: the database makes the id, so that it may be missing
  const sure: number = whole.id
  // @ts-expect-error: left out
  const left: unknown = created.id
  // @ts-expect-error: not picked
  const unpicked: unknown = name.id
  // @ts-expect-error: may be missing in a patch
  const missing: number = patch.age
  // @ts-expect-error: no such property
  dto(Hero, { pick: ['agee'] })
  // @ts-expect-error: no such property either
  dto(HeroModel, { omit: ['agee'] })
  return [created.name.length, created.age.toFixed(), name.name, age, id, sure, left, unpicked, missing]
}

for (const url of [
  '/right/item',
  '/right/described?none=false',
  '/heroes',
  '/heroes/big',
  '/heroes/plain',
  '/heroes/injected',
]) {
  test(`what compiles is served: ${url}`, async (t) => {
    const lifespan = memoryDatabase()
    const app = createApp({ controllers: [RightResults, Paginated], models: [Hero, Team], lifespan, logger: false })
    t.after(() => app.close())
    assert.equal((await app.inject(url)).statusCode, 200)
  })
}

for (const path of ['described?none=true', 'described-first', 'events?last=true'])
  test(`a described status is answered by a reply without a value: ${path}`, async (t) => {
    const app = createApp({
      controllers: [RightResults],
      models: [Hero, Team],
      lifespan: memoryDatabase(),
      logger: false,
    })
    t.after(() => app.close())
    assert.equal((await app.inject(`/right/${path}`)).statusCode, 204)
  })
