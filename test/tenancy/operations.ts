import {
  col,
  fn,
  type IncludeOptions,
  literal,
  type Model,
  type ModelStatic,
  Op,
  where,
  type WhereOptions,
} from 'sequelize'
import type { Paginate, Session } from 'sequitur'
import { select, sql } from 'sequitur'
import type { CursorPaginate } from 'sequitur/cursor'
import { City, Hero, HeroPower, Power, Setting, Team } from './tenants.js'

/*
 * What a handler that has forgotten every `where` can do with models. An operation returns what it has read.
 */

/** What an operation may use: `foreign` and `foreignTeam` are keys of rows of the other tenant, `other` is that tenant. */
export interface Tools {
  readonly session: Session
  readonly paginate: Paginate<Hero>
  readonly byCursor: CursorPaginate<Hero>
  readonly foreign: number
  readonly foreignTeam: number
  readonly own: number
  readonly tenant: number
  readonly other: number
}

export type Operation = (tools: Tools) => Promise<unknown>

const any = (values: object) => values as never // the required columns are those that a program forgets

/** They read: what they return has nothing of the other tenant. */
export const reads: Readonly<Record<string, Operation>> = {
  findAll: () => Hero.findAll(),
  'findAll raw': () => Hero.findAll({ raw: true }),
  'findAll with unscoped model': () => Hero.unscoped().findAll({ paranoid: false }),
  findOne: () => Hero.findOne({ order: [['id', 'DESC']] }),
  'findByPk of a foreign row': ({ foreign }) => Hero.findByPk(foreign),
  findAndCountAll: () => Hero.findAndCountAll({ limit: 100 }),
  'findAll without hooks': () => Hero.findAll({ hooks: false } as object),
  'where with OR': () => Hero.findAll({ where: { [Op.or]: [{ id: { [Op.gt]: 0 } }, { age: 0 }] } }),
  'where with NOT': () => Hero.findAll({ where: { [Op.not]: { id: -1 } } }),
  'where with a literal': () => Hero.findAll({ where: literal('1 = 1 OR 1 = 1') }),
  'where with an OR in a value': () => Team.findAll({ where: { id: { [Op.gt]: literal('0 OR 1 = 1') } } }),
  'where with an OR in a value, of rows that are deleted, too': () =>
    Hero.findAll({ paranoid: false, where: { age: { [Op.gt]: literal('0 OR 1 = 1') } } }),
  'where with an OR in a list': () => Team.findAll({ where: { id: { [Op.in]: literal('(1) OR 1 = 1') } } }),
  'where with an OR between two values': () =>
    Team.findAll({ where: { id: { [Op.between]: [literal('0'), literal('1 OR 1 = 1')] as never } } }),
  'where with an OR before a function': () =>
    Team.findAll({ where: where(fn('1 = 1 OR length', col('name')), Op.gt, 0) }),
  'where with an OR before a comparison': () => Team.findAll({ where: where(literal('1 = 1 OR id'), Op.gt, 0) }),
  'where with an OR, and rows that belong to it': () =>
    Team.findAll({
      include: [{ model: Hero, required: true, where: { id: { [Op.gt]: literal('0 OR 1 = 1') } } }],
      where: { id: { [Op.gt]: literal('0 OR 1 = 1') } },
      limit: 100,
    }),
  'through with an OR in a value': () =>
    Hero.findAll({
      include: [
        { model: Power, required: true, through: { where: { hero_id: { [Op.gt]: literal('0 OR 1 = 1') } } as never } },
      ],
      limit: 100,
    }),
  'where with a list of literals': () => Hero.findAll({ where: { [Op.or]: [literal('1 = 1'), literal('2 = 2')] } }),
  'where with a function': () => Hero.findAll({ where: where(fn('lower', col('name')), Op.like, '%') }),
  'where of the other tenant': ({ other }) => Hero.findAll({ where: { tenant: other } }),
  'where of a foreign row': ({ foreign }) => Hero.findAll({ where: { id: foreign } }),
  'attributes with a function': () => Hero.findAll({ attributes: [[fn('max', col('name')), 'name']], raw: true }),
  'attributes with a literal': () => Hero.findAll({ attributes: ['id', [literal(`name || ''`), 'name']], raw: true }),
  'grouped names': () =>
    Hero.findAll({ attributes: ['name', [fn('count', col('id')), 'n']], group: ['name'], raw: true }),
  having: () =>
    Hero.findAll({ attributes: ['name'], group: ['name'], having: where(fn('count', col('id')), Op.gt, 0), raw: true }),
  'max of names': () => Hero.max('name'),
  'min of names': () => Hero.min('name'),
  'include belongsTo': () => Hero.findAll({ include: [Team] }),
  'include hasMany': () => Team.findAll({ include: [Hero] }),
  'include hasMany required': () => Team.findAll({ include: [{ model: Hero, required: true }] }),
  'include with limit': () => Team.findAll({ include: [{ model: Hero, required: true }], limit: 50 }),
  'include with limit and where': () =>
    Team.findAll({ include: [{ model: Hero, where: { id: { [Op.gt]: 0 } } }], limit: 50, order: [['id', 'ASC']] }),
  'include with or': () =>
    Team.findAll({ include: [{ model: Hero, or: true, where: { id: { [Op.gt]: 0 } } } as IncludeOptions] }),
  'include with on': () => Team.findAll({ include: [{ model: Hero, on: literal('1 = 1') as never }] }),
  'include with on that names an OR': () =>
    Team.findAll({ include: [{ model: Hero, on: { [Op.or]: [{ id: { [Op.gt]: 0 } }, { age: 0 }] } }] }),
  'include without subquery': () => Team.findAll({ include: [Hero], subQuery: false, limit: 100 }),
  'include separate': () => Team.findAll({ include: [{ model: Hero, separate: true }] }),
  'include separate with limit': () =>
    Team.findAll({ include: [{ model: Hero, separate: true, limit: 3, order: [['id', 'ASC']] }] }),
  'include belongsToMany': () => Hero.findAll({ include: [Power] }),
  'include belongsToMany required with limit': () =>
    Hero.findAll({ include: [{ model: Power, required: true }], limit: 50 }),
  'include belongsToMany with through': () =>
    Hero.findAll({ include: [{ model: Power, through: { where: { hero_id: { [Op.gt]: 0 } } } }] }),
  'include in three levels': () =>
    City.findAll({ include: [{ model: Team, include: [{ model: Hero, include: [Power] }] }] }),
  'include in three levels, inner ones required': () =>
    City.findAll({ include: [{ model: Team, required: false, include: [{ model: Hero, required: true }] }] }),
  'include all': () => Team.findAll({ include: [{ all: true, nested: true }] }),
  'include of a table of nobody': () => City.findAll({ include: [Team] }),
  'order by an association': () =>
    Hero.findAll({ include: [Team], order: [[{ model: Team, as: 'team' }, 'name', 'ASC']] }),
  'where of an association': () =>
    Hero.findAll({ include: [Team], where: { '$team.name$': { [Op.like]: '%' } } as WhereOptions<Hero> }),
  'mixin get': async () => (await Promise.all((await Team.findAll()).map((team) => team.$get('heroes')))).flat(),
  'mixin get of belongsToMany': async () =>
    (await Promise.all((await Hero.findAll()).map((hero) => hero.$get('powers')))).flat(),
  'mixin get of a foreign row': ({ foreign }) =>
    Team.build(any({ id: foreign }), { isNewRecord: false }).$get('heroes'),
  'mixin has a foreign row': async ({ foreign, own }) => {
    const team = await Team.findOne({ rejectOnEmpty: true })
    return [await team.$has('heroes', foreign), own].filter((has) => has === true).map(() => 'two and one')
  },
  'mixin count of a foreign row': async ({ foreignTeam }) =>
    (await Team.build(any({ id: foreignTeam }), { isNewRecord: false }).$count('heroes')) === 0 ? [] : 'one two',
  'findOrBuild of a foreign row': async ({ foreign }) => (await Hero.findOrBuild({ where: { id: foreign } }))[1],
  'session.get of a foreign row': ({ session, foreign }) => session.get(Hero, foreign),
  'session.get of a foreign row with options': ({ session, foreign }) =>
    session.get(Hero, foreign, { include: [Team] }),
  'session.all': ({ session }) => session.all(select(Hero)),
  'session.all of another model': ({ session }) => session.all(select(Power)),
  'session.first': ({ session }) => session.first(select(Hero, { order: [['id', 'DESC']] })),
  'session.all with include': ({ session }) =>
    session.all(select(Team, { include: [{ model: Hero, include: [Power] }] })),
  'session.nested': ({ session }) => session.nested(() => Hero.findAll()),
  'session.transaction': ({ session }) => Hero.findAll({ transaction: session.transaction }),
  'a managed transaction': ({ session }) => session.sequelize.transaction(() => Hero.findAll()),
  'an unmanaged transaction': async ({ session }) => {
    const transaction = await session.sequelize.transaction()
    const rows = await Hero.findAll({ transaction })
    await transaction.commit()
    return rows
  },
  'pages by offset': async ({ paginate }) => (await paginate(select(Hero, { order: ['id'] }))).data,
  'pages by cursor': async ({ byCursor }) => (await byCursor(select(Hero, { order: ['id'] }))).data,
  'pages with include': async ({ paginate }) =>
    (await paginate(select(Hero, { include: [{ model: Team, required: true }], order: ['id'] }))).data,
  'a row lock': () => Hero.findAll({ lock: true }),
  'rows of the key with the tenant': () => Setting.findAll(),
  'the join table': () => HeroPower.findAll({ include: [{ all: true }] }),
  'reload of a foreign row': async ({ foreign }) =>
    Hero.build(any({ id: foreign }), { isNewRecord: false })
      .reload()
      .catch(() => []),
  'the query interface': async ({ session }) =>
    session.sequelize.getQueryInterface().rawSelect('hero', { attributes: ['name'], plain: false } as never, 'name'),
  'several at once': () => Promise.all([Hero.findAll(), Hero.findAll(), Team.findAll(), Hero.count()]),
}

/** They count: each returns the number of rows of its model that the tenant has. */
export const counts: Readonly<Record<string, readonly [ModelStatic<Model>, Operation]>> = {
  count: [Hero, () => Hero.count()],
  'count distinct': [Hero, () => Hero.count({ distinct: true, col: 'id' })],
  'count with include': [Hero, () => Hero.count({ include: [{ model: Team }], distinct: true })],
  'count of groups': [Hero, async () => (await Hero.count({ group: ['id'] })).length],
  'count of findAndCountAll': [Team, async () => (await Team.findAndCountAll({ limit: 1 })).count],
  'session.count': [Hero, ({ session }) => session.count(select(Hero))],
  'session.count with include': [Team, ({ session }) => session.count(select(Team, { include: [Hero] }))],
  'length of findAll': [Team, async () => (await Team.findAll()).length],
  aggregate: [Power, async () => Number(await Power.aggregate('id', 'count', {}))],
  'sum of ones': [
    Team,
    async () =>
      Number((await Team.findAll({ attributes: [[fn('count', col('id')), 'n']], raw: true }))[0]?.['n' as never]),
  ],
}

/** They write, and succeed: no row of the other tenant has changed. */
export const writes: Readonly<Record<string, Operation>> = {
  create: () => Hero.create(any({ name: 'new' })),
  'create without hooks': ({ tenant }) => Hero.create(any({ name: 'new', tenant }), { hooks: false }),
  'create with fields': () => Team.create(any({ name: 'new' }), { fields: ['name'] }),
  'create without values to return': () => Team.create(any({ name: 'new' }), { returning: false }),
  bulkCreate: () => Hero.bulkCreate([any({ name: 'new' }), any({ name: 'new' })]),
  'bulkCreate without hooks': () => Team.bulkCreate([any({ name: 'new' })], { hooks: false }),
  'bulkCreate that is validated': () =>
    Team.bulkCreate([any({ name: 'new' })], { validate: true, individualHooks: true }),
  'bulkCreate that ignores duplicates': ({ foreignTeam }) =>
    Team.bulkCreate([any({ id: foreignTeam, name: 'new' })], { ignoreDuplicates: true }),
  'an instance built before': async () => Team.build(any({ name: 'new' })).save(),
  'session.add': async ({ session }) => void session.add(Hero.build(any({ name: 'new' }))),
  'session.add of a change': async ({ session }) => {
    const hero = await session.first(select(Hero))
    if (hero) session.add(hero.set({ age: 5 }))
  },
  'session.delete': async ({ session }) => {
    const hero = await session.first(select(Hero))
    if (hero) session.delete(hero)
    await session.flush()
  },
  'update of all': () => Hero.update({ age: 1 }, { where: {} }),
  'update of all without hooks': () => Hero.update({ age: 2 }, { where: {}, hooks: false }),
  'update with a limit': () => Team.update({ city_id: null }, { where: {}, limit: 1 }),
  'update with individual hooks': () => Hero.update({ age: 3 }, { where: {}, individualHooks: true }),
  'update of a foreign row': ({ foreign }) => Hero.update({ name: 'stolen' }, { where: { id: foreign } }),
  'update with a literal': () =>
    Hero.update({ age: literal('age + 1') as never }, { where: literal('1 = 1 OR 1 = 1') as never }),
  'update of an instance': async () => (await Hero.findOne())?.update({ age: 7 }),
  'save of an instance': async () => (await Hero.findOne())?.set({ age: 8 }).save(),
  'update of an instance of a foreign row': ({ foreign }) =>
    Team.build(any({ id: foreign, name: 'x' }), { isNewRecord: false }).update({ name: 'stolen' }),
  'destroy of an instance of a foreign row': ({ foreign }) =>
    Team.build(any({ id: foreign }), { isNewRecord: false }).destroy(),
  'restore of a foreign row': ({ foreign }) => Hero.restore({ where: { id: foreign } }),
  'increment of a foreign row': ({ foreign }) =>
    Hero.build(any({ id: foreign }), { isNewRecord: false }).increment('age'),
  'destroy of a foreign row': ({ foreign }) => Power.destroy({ where: { id: foreign } }),
  'destroy of all': () => Hero.destroy({ where: {} }),
  'destroy of all by force': () => HeroPower.destroy({ where: {} }),
  'update with an OR in a value': () =>
    Team.update({ city_id: null }, { where: { id: { [Op.gt]: literal('0 OR 1 = 1') } } }),
  'update with a limit and an OR in a value': () =>
    Team.update({ city_id: null }, { where: { id: { [Op.gt]: literal('0 OR 1 = 1') } }, limit: 100 }),
  'update with a function of several values': () =>
    Team.update({ name: fn('coalesce', col('name'), literal(`replace('a, (b', ',', '')`)) as never }, { where: {} }),
  'destroy with an OR in a value': () =>
    HeroPower.destroy({ where: { hero_id: { [Op.gt]: literal('0 OR 1 = 1') } as never } }),
  'delete of the query interface with an OR in a value': ({ session }) =>
    session.sequelize
      .getQueryInterface()
      .bulkDelete('hero_power', { hero_id: { [Op.gt]: literal('0 OR 1 = 1') } } as never),
  'destroy with a limit': () => Power.destroy({ where: {}, limit: 1 }),
  'restore of all': () => Hero.restore({ where: {} }),
  'increment of all': () => Hero.increment('age', { by: 2, where: {} }),
  'decrement of all': () => Hero.decrement({ age: 1 }, { where: { [Op.and]: [literal('1 = 1 OR 1 = 1')] } }),
  'increment of an instance': async () => (await Hero.findOne())?.increment('age'),
  findOrCreate: () => Team.findOrCreate({ where: { name: `maybe ${Math.random()}` } }),
  'findOrCreate of a name of the other': ({ other }) =>
    Team.findOrCreate({ where: { name: other === 1 ? 'one' : 'two' }, defaults: any({ name: 'new' }) }),
  findCreateFind: () => Team.findCreateFind({ where: { name: `maybe ${Math.random()}` } }),
  'upsert by a key with the tenant': ({ tenant }) => Setting.upsert({ tenant, name: 'color', value: 'new' } as never),
  'upsert without the tenant': () => Setting.upsert(any({ name: 'color', value: 'new' })),
  'bulk upsert by a key with the tenant': () =>
    Setting.bulkCreate([any({ name: 'color', value: 'new' })], { updateOnDuplicate: ['value'] }),
  'mixin create': async () => (await Team.findOne())?.$create('hero', { name: 'new' }),
  'mixin set': async ({ own }) => (await Team.findOne())?.$set('heroes', [own] as never),
  'mixin set of foreign rows': async ({ foreign }) => (await Team.findOne())?.$set('heroes', [foreign] as never),
  'mixin add of foreign rows': async ({ foreign }) => (await Team.findOne())?.$add('heroes', foreign),
  'mixin remove of foreign rows': async ({ foreign, foreignTeam }) =>
    void (await Team.build(any({ id: foreignTeam }), { isNewRecord: false }).$remove('heroes', foreign)),
  'mixin of belongsToMany': async () => {
    const power = await Power.create(any({ name: 'new' }))
    const hero = await Hero.create(any({ name: 'new' }))
    await hero.$add('powers', power)
    return hero.$get('powers')
  },
  'nested and rolled back': async ({ session }) =>
    session
      .nested(async () => {
        await Hero.update({ age: 9 }, { where: {} })
        throw new Error('no')
      })
      .catch(() => []),
  'insert of the query interface': ({ session }) =>
    session.sequelize.getQueryInterface().bulkInsert('team', [{ name: 'new' }]),
  'update of the query interface': ({ session }) =>
    session.sequelize.getQueryInterface().bulkUpdate('team', { city_id: null }, {}),
  'delete of the query interface': ({ session }) => session.sequelize.getQueryInterface().bulkDelete('hero_power', {}),
  'a table of nobody': () => City.create(any({ name: 'Paris' })),
}

/** They leave the tenant, and are refused on every database. */
export const refused: Readonly<Record<string, Operation>> = {
  'create for the other': ({ other }) => Hero.create(any({ name: 'new', tenant: other })),
  'create for the other without hooks': ({ other }) =>
    Hero.create(any({ name: 'new', tenant: other }), { hooks: false }),
  'create for the other by a literal': ({ other }) =>
    Hero.create(any({ name: 'new', tenant: literal(String(other)) }), { validate: false }),
  'bulkCreate for the other': ({ other, tenant }) =>
    Hero.bulkCreate([any({ name: 'new', tenant }), any({ name: 'new', tenant: other })]),
  'session.add for the other': async ({ session, other }) =>
    void session.add(Hero.build(any({ name: 'new', tenant: other }))),
  'move of all': ({ other }) => Hero.update({ tenant: other }, { where: {} }),
  'move of an instance': async ({ other }) => (await Team.findOne({ rejectOnEmpty: true })).update({ tenant: other }),
  'move to nobody': () => Team.update(any({ tenant: null }), { where: {}, validate: false } as never),
  'move by an increment': () => Team.increment('tenant', { by: 1, where: {} }),
  'move by a literal': () => Team.update(any({ tenant: literal('tenant_id + 1') }), { where: {} }),
  'change of all by a value that ends the statement before its condition': () =>
    Hero.update({ age: literal('66;') as never }, { where: {} }),
  'move by a second value in a literal': ({ other }) =>
    Hero.update({ age: literal(`age, tenant_id = ${other}`) as never }, { where: {} }),
  'move by a second value in a function': ({ other }) =>
    Hero.update({ age: fn('age, tenant_id = abs', other) as never }, { where: {} }),
  'move of an instance by a second value': async ({ other }) =>
    (await Team.findOne({ rejectOnEmpty: true })).update({ name: literal(`name, tenant_id = ${other}`) as never }),
  'move by the second value of an increment': ({ other }) =>
    Hero.increment({ age: literal(`1, tenant_id = ${other}`) as never }, { where: {} } as never),
  'a literal that sets the tenant': ({ other }) =>
    Hero.findAll({
      attributes: ['id', [literal(`set_config('sequitur.tenant', '${other}', true)`), 'name']],
      raw: true,
    }),
  'a literal with further statements': ({ other }) =>
    Hero.findAll({ order: literal(`id; SET LOCAL sequitur.tenant = '${other}'; SELECT * FROM hero`) as never }),
  'insert of the query interface for the other': ({ session, other }) =>
    session.sequelize.getQueryInterface().bulkInsert('team', [{ name: 'new', tenant_id: other }]),
  'move by the query interface': ({ session, other }) =>
    session.sequelize.getQueryInterface().bulkUpdate('team', { tenant_id: other }, {}),
  truncate: () => Power.truncate(),
  'destroy with truncate': () => Power.destroy({ truncate: true }),
  'raw TRUNCATE': ({ session }) => session.sequelize.query('TRUNCATE hero_power'),
  'upsert for the other': ({ other }) => Setting.upsert({ tenant: other, name: 'color', value: 'stolen' } as never),
}

/** Raw SQL that leaves the policies of PostgreSQL, or the role of the session. */
export const leaving: Readonly<Record<string, Operation>> = Object.fromEntries(
  [
    'RESET ROLE',
    'reset all',
    'SET ROLE NONE',
    'SET LOCAL ROLE NONE',
    `SET role = 'none'`,
    `SET LOCAL "role" TO 'none'`,
    'SET SESSION AUTHORIZATION DEFAULT',
    `SET LOCAL sequitur.tenant = '2'`,
    `SELECT set_config('sequitur.tenant', '2', true)`,
    `SELECT pg_catalog.set_config('role', 'none', true)`,
    '/* x */ RESET ROLE',
    '-- x\nDISCARD ALL',
    'SELECT 1; RESET ROLE',
    `SELECT ';'; RESET ROLE`,
    `DO $$ BEGIN PERFORM 1; END $$`,
    'TRUNCATE hero_power',
    'ALTER TABLE hero DISABLE ROW LEVEL SECURITY',
    'DROP POLICY tenancy ON hero',
    'SET/**/ROLE NONE',
    'SET /* a */ LOCAL /* b */ ROLE NONE',
    'SET LOCAL -- x\n sequitur . tenant = 2',
    `SET LOCAL U&"r\\006fle" TO none`,
    `SET LOCAL U&"\\0073equitur".tenant = 2`,
    `SELECT U&"set\\005fconfig"('sequitur' || '.tenant', '2', true)`,
    `SELECT query_to_xml('SELECT set_' || 'config(''sequitur'' || ''.tenant'', ''2'', true)', true, true, '')`,
    `CREATE FUNCTION pg_temp.leave() RETURNS void LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'RESET ' || 'ROLE'; END $$`,
  ].map((text): [string, Operation] => [text, ({ session }) => session.sequelize.query(text)]),
)

/** Raw SQL that looks like it, and is not. */
export const staying: readonly string[] = [
  `UPDATE hero SET name = 'reset role; set role x'`,
  `SELECT 'truncate' AS "drop";`,
  'SET LOCAL statement_timeout = 10000',
  'SET /* a */ LOCAL lock_timeout TO 10000',
  'SELECT 1; -- one statement',
  `SELECT name AS role FROM hero WHERE name <> 'DISCARD ALL' ; `,
]

/** They are refused where statements are limited by conditions. Policies limit them as well: they read nothing of the other tenant there. */
export const raw: Readonly<Record<string, Operation>> = {
  'session.execute': ({ session }) => session.execute(sql`SELECT * FROM hero`),
  'sequelize.query': ({ session }) => session.sequelize.query('SELECT * FROM hero'),
  'sequelize.query as a model': ({ session }) =>
    session.sequelize.query('SELECT * FROM hero', { model: Hero, mapToModel: true }),
  'sequelize.query of a write': async ({ session }) => (await session.sequelize.query('UPDATE hero SET age = 99'), []),
  'a write': ({ session }) => session.execute(sql`UPDATE team SET city_id = NULL`),
  // What one database takes for a comment is a statement in another.
  'a write that looks like a savepoint': async ({ session }) => (
    await session.sequelize.query('/* /* */ DELETE FROM hero_power -- */ SAVEPOINT a'),
    []
  ),
  'pages of raw SQL': async ({ paginate }) => (await paginate(sql`SELECT * FROM hero ORDER BY id` as never)).data,
  'a literal with a subquery': () => Hero.findAll({ where: literal('id IN (SELECT id FROM hero)') }),
  'a literal with a comment': () => Hero.findAll({ where: literal('1 = 1 -- all') }),
  'a literal that ends the statement before its condition': () =>
    Hero.findAll({ attributes: ['id', literal('name FROM hero;') as never], raw: true }),
  'a literal in an include that ends the statement before its condition': () =>
    City.findAll({ include: [{ model: Team, attributes: [literal('1 AS one FROM hero;') as never] }], raw: true }),
  'a literal that closes the condition': () => Hero.findAll({ where: literal('1 = 1) OR (1 = 1') }),
  'a function that closes the condition': () =>
    Hero.findAll({ where: where(fn('1 = 1) OR (lower', col('name')), Op.like, '%') }),
  'a literal with a subquery in IN': () =>
    Hero.findAll({ where: { id: { [Op.in]: literal('(SELECT id FROM hero)') } } }),
  'a literal with a subquery as an attribute': () =>
    Hero.findAll({ attributes: ['id', [literal('(SELECT max(name) FROM hero)'), 'name']], raw: true }),
  'a literal with a subquery as the attribute of an include': () =>
    Team.findAll({ include: [{ model: Hero, attributes: ['id', [literal('(SELECT max(name) FROM hero)'), 'name']] }] }),
  'a literal with a subquery as an order': () =>
    Hero.findAll({ order: literal('(SELECT count(*) FROM power)') as never }),
  'a literal with a subquery as a value': () =>
    Hero.update({ name: literal('(SELECT max(name) FROM power)') as never }, { where: {} }),
  'a literal with a subquery as a new value': () =>
    Power.create(any({ name: literal('(SELECT max(name) FROM team)') }), { validate: false }).then(() => []),
  'the SQL of Sequelize without its model': ({ session }) =>
    session.sequelize.query('SELECT id, name FROM `hero`'.replaceAll('`', '')),
}
