import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { InitOptions, ModelAttributes } from 'sequelize'
import { type Model, type ModelStatic, Table } from 'sequelize-typescript'
import { Controller, Post, withSession } from 'sequitur'
import { Idempotent, IdempotencyRecord } from 'sequitur/idempotency'
import { databaseApp, databases } from '../support/databases.js'

@Table({ tableName: 'other_record', timestamps: false })
class OtherRecord extends IdempotencyRecord {
  // The name of an index is unique in a database.
  static override initialize<S extends ModelStatic<Model>, M extends InstanceType<S>>(
    attributes: ModelAttributes,
    options: InitOptions,
  ): S {
    return super.initialize<S, M>(attributes, { ...options, indexes: [] })
  }
}

@Controller('/')
class Routes {
  @Idempotent()
  @Post('/one')
  one() {
    return 1
  }

  @Idempotent({ model: OtherRecord })
  @Post('/other')
  other() {
    return 2
  }
}

for (const kind of databases)
  test(`a database may have several tables of keys: ${kind.name}`, async (t) => {
    const app = await databaseApp(t, kind, [IdempotencyRecord, OtherRecord], [Routes])
    for (const path of ['/one', '/other'])
      assert.equal((await app.fetch(path, { method: 'POST', headers: { 'idempotency-key': 'k' } })).status, 201)
    const routesOf = (model: typeof IdempotencyRecord) =>
      withSession(app.database, async () => (await model.findAll()).map(({ route }) => route))
    assert.deepEqual(await routesOf(IdempotencyRecord), ['POST /one'])
    assert.deepEqual(await routesOf(OtherRecord), ['POST /other'])
  })
