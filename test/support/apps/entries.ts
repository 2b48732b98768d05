import { type CreationOptional, DataTypes } from 'sequelize'
import { Column, Table } from 'sequelize-typescript'
import { Base, Controller, Get, Post, Session, sql, Transactional } from 'sequitur'
import { Idempotent } from 'sequitur/idempotency'

/*
 * Routes that write rows, with the name of their request, in each way that begins a transaction: by one statement, by several at once, by a flush.
 */

@Table({ tableName: 'entry', timestamps: false })
export class Entry extends Base<Entry> {
  @Column({ type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataTypes.TEXT }) declare request: string
}

const insert = (request: string) => sql`INSERT INTO entry (request) VALUES (${request})`

@Controller('/')
export class Entries {
  @Get('/whole') whole() {
    return Entry.count()
  }
  @Post('/one/:name') async one(name: string) {
    await Entry.create({ request: name })
  }
  @Post('/four/:name') async four(name: string, session: Session) {
    await Promise.all(
      [1, 2, 3, 4].map((n) => (n % 2 ? Entry.create({ request: name }) : session.execute(insert(name)))),
    )
  }
  @Post('/flush/:name') async flush(name: string, session: Session) {
    for (let n = 0; n < 4; n++) session.add(Entry.build({ request: name }))
  }
  @Post('/read/:name') async read(name: string, session: Session) {
    await Promise.all([Entry.count(), session.execute(sql`SELECT 1`), session.execute(insert(name))])
    await Entry.create({ request: name })
  }
  @Transactional({ isolation: 'repeatable read' })
  @Post('/text/:name')
  async text(name: string) {
    const text = `INSERT INTO entry (request) VALUES ('${name}')`
    const query = async (words: string) => void (await Entry.sequelize?.query(words))
    await Promise.all([query(`${text}; ${text}`), query(text)])
  }
  @Idempotent() @Post('/key/:name') async key(name: string, session: Session) {
    await session.execute(insert(name))
    return {}
  }
}
