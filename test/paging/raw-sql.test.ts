import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, Field, Get, Page, Paginate, Session, type Sql, sql } from 'sequitur'
import { rawSql } from '../../src/db/statements/statement.js'
import { databaseApp, databases } from '../support/databases.js'

@Table({ tableName: 'parcel', timestamps: false })
class Parcel extends Base<Parcel> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.INTEGER, allowNull: false }) declare limit: number
  @Column({ type: DataType.INTEGER, allowNull: false }) declare offset: number
  @Column({ type: DataType.STRING, allowNull: false }) declare note: string
}

class Id {
  @Field({ type: 'integer' }) id!: number
}

let text: Sql<Id> = sql``

@Controller('/')
class Parcels {
  @Get('/pages', Page.of(Id)) pages(paginate: Paginate<Id>) {
    return paginate(text)
  }
  @Get('/whole', [Id]) whole(session: Session) {
    return session.execute(text)
  }
}

const quote = (dialect: string, name: string) => rawSql(dialect === 'mariadb' ? `\`${name}\`` : `"${name}"`)

/** Raw SQL for every database, with words that could be mistaken for a LIMIT. */
const texts = (dialect: string): Sql[] => [
  sql`SELECT id FROM parcel ORDER BY ${quote(dialect, 'limit')} DESC, id`,
  sql`SELECT id, ${quote(dialect, 'limit')} AS ${quote(dialect, 'fetch first')} FROM parcel ORDER BY ${quote(dialect, 'offset')}, id DESC`,
  sql`SELECT id FROM parcel WHERE note <> 'limit 5' ORDER BY id DESC`,
  sql`SELECT id FROM parcel WHERE note = 'it''s limit 5; --' ORDER BY id DESC`,
  sql`SELECT id FROM parcel WHERE note LIKE ${'%limit%'} ORDER BY id DESC`,
  sql`SELECT id FROM parcel ORDER BY id DESC -- limit 5`,
  sql`SELECT id FROM parcel ORDER BY id DESC /* limit 5 */`,
  sql`SELECT id FROM parcel ORDER BY id DESC; -- that's all`,
  sql`SELECT id FROM parcel ORDER BY id DESC /* limit */ -- ' "
      ; `,
  sql`SELECT id FROM parcel -- the '(first ones
      ORDER BY id DESC LIMIT 7 -- (seven)`,
  sql`SELECT id FROM parcel ORDER BY id DESC LIMIT 7 OFFSET 2;`,
  sql`SELECT id FROM parcel WHERE id > ${3} ORDER BY id DESC LIMIT 5`,
  sql`SELECT id FROM parcel ORDER BY id = ${3} DESC, id DESC`,
  sql`SELECT id FROM parcel ORDER BY id % ${3}, (SELECT p.id FROM parcel p WHERE p.id = parcel.id LIMIT 1) DESC`,
  sql`WITH few AS (SELECT id FROM parcel ORDER BY id LIMIT 9) SELECT id FROM few ORDER BY id DESC`,
  sql`WITH few AS (SELECT id FROM parcel ORDER BY id LIMIT 9) SELECT id FROM few ORDER BY id DESC LIMIT 4`,
  sql`SELECT id, row_number() OVER (PARTITION BY note ORDER BY id) AS place FROM parcel ORDER BY place, id DESC`,
  sql`SELECT id FROM parcel WHERE id < 4 UNION ALL SELECT id FROM parcel WHERE id > 9 ORDER BY id DESC`,
  sql`SELECT id FROM parcel WHERE id < 4 UNION SELECT id FROM parcel ORDER BY id DESC LIMIT 5`,
  sql`SELECT max(id) AS id FROM parcel GROUP BY note HAVING count(*) > ${1} ORDER BY max(id) DESC`,
]

/** Raw SQL for one database only. */
const special: Readonly<Record<string, readonly Sql[]>> = {
  sqlite: [
    sql`SELECT id FROM parcel ORDER BY [limit] DESC, id`,
    sql`SELECT id FROM parcel ORDER BY offset DESC, id`,
    sql`SELECT id FROM parcel ORDER BY id DESC LIMIT (3 + 4)`,
    sql`SELECT id FROM parcel ORDER BY \`limit\` DESC, id`,
  ],
  postgres: [
    sql`SELECT id FROM parcel ORDER BY parcel.limit DESC, id`,
    sql`SELECT id, note AS limit FROM parcel ORDER BY id DESC`,
    sql`SELECT id FROM parcel ORDER BY id DESC OFFSET 3`,
    sql`SELECT id FROM parcel ORDER BY id DESC OFFSET 3 ROWS FETCH FIRST 4 ROWS ONLY`,
    sql`SELECT id FROM parcel ORDER BY id DESC LIMIT (3 + 4)`,
    sql`SELECT id FROM parcel ORDER BY id DESC; /* a /* limit */ c */`,
    sql`SELECT id FROM parcel /* a /* ' */ LIMIT 2 */ ORDER BY id DESC /* /**/ ; */`,
    sql`SELECT id, id AS a$limit$ FROM parcel ORDER BY a$limit$ DESC`,
    sql`SELECT id FROM parcel WHERE note <> $$limit '5$$ ORDER BY id DESC`,
    sql`SELECT id FROM parcel WHERE note <> $limit$limit $$ 5$limit$ ORDER BY id DESC`,
    sql`SELECT id FROM parcel WHERE note <> E'it\\'s limit 5' ORDER BY id DESC`,
    sql`SELECT id FROM parcel WHERE note <> 'back\\' ORDER BY id DESC -- '`,
  ],
  mariadb: [
    sql`SELECT id FROM parcel ORDER BY parcel.limit DESC, id`,
    sql`SELECT id FROM parcel ORDER BY parcel.offset DESC, id`,
    sql`SELECT id FROM parcel WHERE note <> 'it\\'s limit 5' ORDER BY id DESC`,
    sql`SELECT id FROM parcel WHERE note <> "limit 5" ORDER BY id DESC # limit 5`,
    sql`SELECT id FROM parcel WHERE id > 5--3 ORDER BY id DESC`,
    sql`SELECT id FROM parcel ORDER BY id DESC /*! LIMIT 5 */;`,
    sql`SELECT id FROM parcel /*!50000 WHERE note <> 'limit */' */ ORDER BY id DESC`,
    sql`SELECT id FROM parcel ORDER BY id DESC LIMIT 2, 5`,
  ],
}

for (const kind of databases) {
  test(`on ${kind.name} pages of raw SQL put together are its result`, async (t) => {
    const { fetch, log, database } = await databaseApp(t, kind, [Parcel], [Parcels])
    const notes = ['a', 'limit 5', "it's limit 5; --"]
    await Parcel.bulkCreate(
      Array.from({ length: 12 }, (_, id) => ({
        id,
        limit: (id * 5) % 4,
        offset: (id * 7) % 5,
        note: notes[id % 3] as string,
      })),
    )
    const dialect = database.sequelize.getDialect().replace('mysql', 'mariadb')
    const read = async (path: string) => {
      const answer = await fetch(path)
      assert.equal(answer.status, 200, `${text.texts.join('?')}\n${log.at(-1)}`)
      return (await answer.json()) as { data: Id[]; meta: { total_items: number } }
    }
    for (const one of [...texts(dialect), ...(special[dialect] ?? [])]) {
      text = one as Sql<never>
      const whole = (await read('/whole')) as unknown as Id[]
      assert.ok(whole.length > 1, text.texts.join('?'))
      for (const limit of [1, 3, 20]) {
        const seen: Id[] = []
        for (let offset = 0; offset < whole.length; offset += limit) {
          const { data, meta } = await read(`/pages?limit=${limit}&offset=${offset}`)
          assert.equal(meta.total_items, whole.length, text.texts.join('?'))
          seen.push(...data)
        }
        assert.deepEqual(seen, whole, text.texts.join('?'))
      }
    }
  })
}
