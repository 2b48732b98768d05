import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, Field, Item, Post, Session } from 'sequitur'
import { databaseApp, postgres } from '../support/databases.js'
import { Hero, Team } from '../support/hero.js'

/*
 * A table gets a trigger or a rule after the app has started and prepared its INSERT: no 201 has a row that is not stored.
 */

class Named {
  @Field() name!: string
}

@Controller('/')
class Teams {
  @Post('/create', Item.of(Team)) async create({ name }: Named) {
    return { data: await Team.create({ name }) }
  }
  @Post('/add', Item.of(Team)) add({ name }: Named, session: Session) {
    return { data: session.add(Team.build({ name })) }
  }
  @Post('/bulk', Item.of(Team)) async bulk({ name }: Named) {
    const [data] = await Team.bulkCreate([{ name }])
    return { data: data as Team }
  }
}

const trigger = (
  body: string,
) => `CREATE OR REPLACE FUNCTION on_team() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} END $$;
  CREATE TRIGGER team_trigger BEFORE INSERT ON team FOR EACH ROW EXECUTE FUNCTION on_team()`

const changes: readonly (readonly [what: string, sql: string, status: number])[] = [
  ['a trigger that keeps no row', trigger('RETURN NULL;'), 500],
  ['a trigger that changes the row', trigger(`NEW.name := NEW.name || ' changed'; RETURN NEW;`), 201],
  ['a rule', 'CREATE RULE team_rule AS ON INSERT TO team DO INSTEAD NOTHING', 500],
]

for (const [what, sql, expected] of changes)
  for (const fastPath of [true, false])
    test(`PostgreSQL: an INSERT after its table got ${what} (fast path: ${fastPath})`, async (t) => {
      const app = await databaseApp(t, postgres, [Team, Hero], [Teams], {
        lifespan: { poolSize: 1, echo: false, fastPath },
      })
      const insert = async (path: string, name: string) => {
        const response = await app.fetch(path, { method: 'POST', json: { name } })
        return { status: response.status, body: (await response.json()) as { data?: { name: string } } }
      }
      for (const path of ['/create', '/add', '/bulk']) assert.equal((await insert(path, `before ${path}`)).status, 201)
      await app.database.sequelize.query(sql)
      for (const path of ['/create', '/add', '/bulk']) {
        const { status, body } = await insert(path, `after ${path}`)
        assert.equal(status, expected, path)
        const stored = await Team.findOne({ order: [['id', 'DESC']] })
        assert.equal(stored?.name, expected === 201 ? body.data?.name : 'before /bulk')
      }
    })
