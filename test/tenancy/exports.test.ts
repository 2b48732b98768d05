import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, dto, Field, Get, select, sql } from 'sequitur'
import { Rows, rows } from 'sequitur/exports'
import { unscoped, Unscoped } from 'sequitur/tenancy'
import { literal, Op } from 'sequelize'
import { as, Hero, seed, tenantApp, tenantDatabases, unscopedDatabases } from './tenants.js'

/* Exports whose statements name no tenant. */

class HeroRow extends dto(Hero, { pick: ['id', 'name'] }) {}
class Name {
  @Field() name!: string
}

const EXPORTS = { atOnce: 10 }

@Controller('/exports')
class Exports {
  @Get('/select', Rows.of(HeroRow, EXPORTS))
  select() {
    return rows(select(Hero, { order: ['id'] }))
  }
  @Get('/or', Rows.of(HeroRow, EXPORTS))
  or() {
    return rows(select(Hero, { where: { id: { [Op.gt]: literal('0 OR 1 = 1') } }, order: ['id'] }))
  }
  @Get('/subquery', Rows.of(HeroRow, EXPORTS))
  subquery() {
    return rows(select(Hero, { where: literal('id IN (SELECT id FROM hero)'), order: ['id'] }))
  }
  @Get('/sql', Rows.of(Name, EXPORTS))
  sql() {
    return rows(sql<Name>`SELECT name FROM hero ORDER BY id`)
  }
}

@Controller('/unscoped')
class UnscopedExports {
  @Get('/sql', Rows.of(Name, EXPORTS))
  sql() {
    return unscoped(() => rows(sql<Name>`SELECT name FROM hero ORDER BY id`))
  }
  @Get('/select', Rows.of(HeroRow, EXPORTS))
  select() {
    return unscoped(() => rows(select(Hero, { order: ['id'] })))
  }
}

@Unscoped()
@Controller('/administration')
class Administration {
  @Get('/sql', Rows.of(Name, EXPORTS))
  sql() {
    return rows(sql<Name>`SELECT name FROM hero ORDER BY id`)
  }
  @Get('/select', Rows.of(HeroRow, EXPORTS))
  select() {
    return rows(select(Hero, { order: ['id'] }))
  }
}

const wordsIn = (text: string) => new Set(text.match(/\b(?:one|two)\b/g))

for (const kind of tenantDatabases) {
  test(`${kind.name}: an export has the rows of its tenant alone; raw SQL that nothing limits is refused`, async (t) => {
    const app = await tenantApp(t, kind, [Exports])
    await seed(app.database)
    for (const [index, word] of ['one', 'two'].entries())
      for (const path of ['select', 'or', 'subquery', 'sql']) {
        const response = await as(app, index + 1)(`/exports/${path}`)
        const text = await response.text()
        const isRefused = !kind.hasPolicies && ['subquery', 'sql'].includes(path)
        assert.equal(response.status, isRefused ? 500 : 200, `${path}: ${text}`)
        assert.deepEqual([...wordsIn(text)], isRefused ? [] : [word], path)
        if (isRefused) assert.match(app.log.at(-1) ?? '', /TenancyError/)
      }
    for (const path of ['select', 'or']) assert.equal((await as(app, undefined)(`/exports/${path}`)).status, 403, path)
  })
}

for (const kind of tenantDatabases.filter(({ hasPolicies }) => !hasPolicies))
  test(`${kind.name}: an export that was made in unscoped() has the rows of all`, async (t) => {
    const app = await tenantApp(t, kind, [UnscopedExports])
    await seed(app.database)
    for (const path of ['sql', 'select']) {
      const response = await as(app, 1)(`/unscoped/${path}`)
      const text = await response.text()
      assert.deepEqual([response.status, [...wordsIn(text)]], [200, ['one', 'two']], `${path}: ${text}`)
    }
  })

for (const kind of unscopedDatabases)
  test(`${kind.name}: an export of a route with @Unscoped() has the rows of all`, async (t) => {
    const app = await tenantApp(t, kind, [Administration])
    await seed(app.database)
    for (const path of ['sql', 'select']) {
      const response = await as(app, undefined)(`/administration/${path}`)
      const text = await response.text()
      assert.deepEqual([response.status, [...wordsIn(text)]], [200, ['one', 'two']], `${path}: ${text}`)
    }
  })
