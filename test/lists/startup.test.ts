// Needs a process of its own: lists of other files use the same models.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, createApp, Get, newLifespan, Page, Paginate } from 'sequitur'
import { listOf, type ListQuery } from 'sequitur/lists'
import { memoryDatabase, testApp } from 'sequitur/testing'
import { databases, sqliteFile, sqliteMemory } from '../support/databases.js'
import { Hero, HeroOut, models } from './model.js'

/** Creates an app with a list of these options; the compiler would refuse many of them. */
function appOf(options: object) {
  class Listed extends listOf(Hero, options) {}
  return createApp({ controllers: [controllerOf(Listed)], models, lifespan: memoryDatabase() })
}

function controllerOf(list: new () => ListQuery<Hero>) {
  @Controller('/heroes')
  class Heroes {
    @Get('/', Page.of(HeroOut), { params: [list, Paginate] }) list(query: ListQuery<Hero>, paginate: Paginate<Hero>) {
      return paginate(query.select())
    }
  }
  return Heroes
}

const wrong: readonly (readonly [options: object, message: RegExp])[] = [
  [
    { filter: { agee: ['eq'] } },
    /listOf\(Hero, \.\.\.\): filter: 'agee': Hero has no column 'agee'\. Did you mean 'age'\?/,
  ],
  [{ filter: { age: ['contains'] } }, /the column 'age' has no operator 'contains'\. Use one of eq, ne, in, lt/],
  [{ filter: { name: ['lt'] } }, /the column 'name' has no operator 'lt'/],
  [{ filter: { age: ['null'] } }, /the column 'age' has no operator 'null'/],
  [{ filter: { age: 'eq' } }, /filter: 'age' takes a list, got a string\. Write \['eq'\]/],
  [{ filter: ['age'] }, /filter is a list\. Write operators for columns/],
  [{ filter: { 'team.heroes.age': ['eq'] } }, /'team\.heroes\.age': Team has no association 'heroes'/],
  [{ filter: { 'powers.id': ['eq'] } }, /Hero\.powers has many rows for one of Hero\. Write a column of Hero/],
  [{ filter: { 'a.b.c.d': ['eq'] } }, /more than 2 associations/],
  [{ sort: ['nam'] }, /sort: 'nam': Hero has no column 'nam'/],
  [{ sort: ['age'], defaultSort: ['-name'] }, /defaultSort: 'name' is not in sort/],
  [{ include: ['teams'] }, /include: 'teams': Hero has no association 'teams'/],
  [{ fields: ['nam'] }, /fields: Hero has no column 'nam'/],
  [{ fields: ['name', 'age'] }, /may leave out name, .*age.*which the response requires\. Make them optional/],
  [{ unindexed: ['age'] }, /unindexed: 'age' is neither in filter nor in sort/],
]

for (const [options, message] of wrong) {
  test(`listOf(Hero, ${JSON.stringify(options)}) fails at startup`, () => {
    assert.throws(() => appOf(options), message)
  })
}

const kinds = [sqliteFile, ...databases.filter((kind) => kind !== sqliteFile && kind !== sqliteMemory)]

for (const kind of kinds) {
  test(`the start and the doctor name columns without an index: ${kind.name}`, async () => {
    class Listed extends listOf(Hero, {
      filter: { id: ['in'], age: ['gte'], name: ['contains'], motto: ['ne'], 'team.city': ['eq'], score: ['eq'] },
      sort: ['age', 'seen'],
      unindexed: ['score'],
    }) {}
    const controllers = [controllerOf(Listed)]
    const url = await kind.url()
    const warnings: string[] = []
    const logger = { info() {}, error() {}, warn: (line: string) => void warnings.push(line) }
    const start = async () => {
      warnings.length = 0
      await (await testApp({ controllers, models, lifespan: newLifespan(url, { sync: true }), logger })).close()
      return warnings.filter((line) => line.includes('Listed'))
    }
    const missing = [
      "no index begins with column age of table hero (Listed filters by age; a total is then counted in the index alone). Add it in a migration: await context.addIndex('hero', ['age'])",
      "no index begins with column seen of table hero (Listed sorts by seen). Add it in a migration: await context.addIndex('hero', ['seen'])",
    ]
    const city =
      "no index begins with column home_city of table team (Listed filters by team.city). Add it in a migration: await context.addIndex('team', ['home_city'])"
    const text = (await start()).map((line) => line.replace(/^The database \(.*?\): /, '')).toSorted()
    assert.deepEqual(text, [...missing, city].toSorted())
    const database = newLifespan(url, { models })
    const { hints } = await database.check()
    assert.deepEqual(hints.filter((line) => line.includes('Listed')).toSorted(), [...missing, city].toSorted())
    await database.during(() => database.sequelize.getQueryInterface().addIndex('hero', ['age', 'score']))
    assert.equal((await start()).length, 2)
  })
}
