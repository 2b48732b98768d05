// The same on both query paths: it names that of each database.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Op, QueryTypes, type Sequelize } from 'sequelize'
import { Column, DataType, Model, Table } from 'sequelize-typescript'
import { Controller, Get, newLifespan, Path, select, Session, sql, Transactional } from 'sequitur'
import { testApp } from 'sequitur/testing'
import { databases } from '../support/databases.js'
import { endedRequests } from '../support/observed.js'

@Table({ tableName: 'visit', timestamps: false })
class Visit extends Model {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: number
  @Column({ type: DataType.INTEGER, allowNull: false }) declare ward: number
  @Column({ type: DataType.STRING, allowNull: false }) declare name: string
  @Column({ type: DataType.DATE, allowNull: false }) declare at: Date
}

const ROWS = 64
const START = Date.UTC(2026, 0, 1)

type Read = (after: Visit | undefined, session: Session) => Promise<readonly Visit[]>

const sequelize = (): Sequelize => Visit.sequelize ?? assert.fail('The database is not running.')

const key = (row: Visit | undefined) => row?.id ?? 0
const page = { order: [['id', 'ASC']] as [string, string][], limit: 4 }

/** One batch of a list, by the last row of the batch before. */
const BATCHES: Readonly<Record<string, Read>> = {
  'session.all()': (after, session) => session.all(select(Visit, { where: { id: { [Op.gt]: key(after) } }, ...page })),
  'findAll()': (after) => Visit.findAll({ where: { id: { [Op.gt]: key(after) } }, ...page }),
  'rows without instances': (after) =>
    Visit.findAll({ where: { id: { [Op.gt]: key(after) } }, ...page, raw: true }) as Promise<Visit[]>,
  'one ward': (after) => Visit.findAll({ where: { ward: 1, id: { [Op.gt]: key(after) } }, ...page }),
  'the newest first': (after) =>
    Visit.findAll({
      where: { at: { [Op.lt]: after?.at ?? new Date(START + 1e9) } },
      order: [['at', 'DESC']],
      limit: 4,
    }),
  'two columns': (after) => {
    const name = after?.name ?? ''
    const where = { [Op.or]: [{ name: { [Op.gt]: name } }, { name, id: { [Op.gt]: key(after) } }] }
    return Visit.findAll({ where, order: ['name', 'id'], limit: 4 })
  },
  'sql with values': (after, session) =>
    session.execute(sql`SELECT * FROM visit WHERE id > ${key(after)} ORDER BY id LIMIT 4`) as unknown as Promise<
      Visit[]
    >,
  replacements: (after) =>
    sequelize().query('SELECT * FROM visit WHERE (name, id) > (:name, :id) ORDER BY name, id LIMIT 4', {
      replacements: { name: after?.name ?? '', id: key(after) },
      type: QueryTypes.SELECT,
    }),
  bind: (after) =>
    sequelize().query('SELECT * FROM visit WHERE id > $1 ORDER BY id LIMIT 4', {
      bind: [key(after)],
      type: QueryTypes.SELECT,
    }),
  'a literal': (after) =>
    sequelize().query(`SELECT * FROM visit WHERE id > ${key(after)} ORDER BY id LIMIT 4`, { type: QueryTypes.SELECT }),
}

const ids = Array.from({ length: 16 }, (_, index) => index + 1)

/** Sixteen times the same read, with a value for each of sixteen rows. */
const REPEATED: Readonly<Record<string, (session: Session) => Promise<unknown>>> = {
  'the first ones of each': async (session) => {
    for (const ward of ids) await session.all(select(Visit, { where: { ward, id: { [Op.gt]: 0 } }, ...page }))
  },
  'those after each': async () => {
    for (const id of ids) await Visit.findAll({ where: { id: { [Op.gt]: id } }, ...page })
  },
  'the next one of each': async () => {
    for (const id of ids) await Visit.findAll({ where: { id: { [Op.gt]: id } }, ...page, limit: 1 })
  },
  'the same one': async () => {
    for (const _ of ids) await Visit.findAll({ where: { id: { [Op.gt]: 7 } }, ...page })
  },
  'batches at the same time': async () => {
    await Promise.all(ids.map((batch) => Visit.findAll({ where: { id: { [Op.gt]: batch * 4 } }, ...page })))
  },
  'the row that the last one names': async () => {
    for (const id of ids) await Visit.findAll({ where: { id }, ...page })
  },
}

async function readAll(read: Read, session: Session): Promise<void> {
  const found: number[] = []
  for (let last: Visit | undefined; ;) {
    const batch = await read(last, session)
    found.push(...batch.map(({ id }) => id))
    last = batch.at(-1)
    if (!last) break
  }
  assert.equal(new Set(found).size, ROWS)
}

@Controller('/visits')
class Visits {
  @Get('/batches/:name') async batches(@Path() name: string, session: Session) {
    await readAll(BATCHES[name] ?? assert.fail(name), session)
  }
  @Get('/repeated/:name') async repeated(@Path() name: string, session: Session) {
    await REPEATED[name]?.(session)
  }
  @Transactional(false) @Get('/alone') async alone() {
    for (let last = 0; last < ROWS;) {
      const batch = await Visit.findAll({ where: { id: { [Op.gt]: last } }, ...page })
      last = batch.at(-1)?.id ?? ROWS
    }
  }
}

for (const kind of databases)
  for (const fastPath of [true, false]) {
    test(`a loop that reads a list in batches is no N+1: ${kind.name}, fastPath ${fastPath}`, async (t) => {
      const lifespan = newLifespan(await kind.url(), { sync: true, fastPath })
      const app = await testApp({ controllers: [Visits], models: [Visit], lifespan })
      t.after(app.close)
      const rows = Array.from({ length: ROWS }, (_, index) => ({
        ward: 1,
        name: `name ${String(index).padStart(2, '0')}`,
        at: new Date(START + index * 1000),
      }))
      await Visit.bulkCreate(rows)
      const records = endedRequests(t)
      const repeats: Record<string, number> = {}
      const get = async (path: string, name: string) => {
        assert.equal((await app.fetch(path)).status, 204, name)
        repeats[name] = (await records.next()).repeated
      }
      for (const name of Object.keys(BATCHES)) await get(`/visits/batches/${encodeURIComponent(name)}`, name)
      await get('/visits/alone', 'alone')
      assert.deepEqual(repeats, Object.fromEntries([...Object.keys(BATCHES), 'alone'].map((name) => [name, 1])))
      for (const name of Object.keys(REPEATED)) {
        await get(`/visits/repeated/${encodeURIComponent(name)}`, name)
        assert.ok(Number(repeats[name]) >= 15, `${name}: ${repeats[name]}`)
      }
    })
  }
