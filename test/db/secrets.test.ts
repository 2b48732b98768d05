// The same on both query paths: it names that of each database.
import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { test } from 'node:test'
import { type CreationOptional, literal } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, Field, Header, Path, Post, Query, Session, sql } from 'sequitur'
import { databaseApp, databases } from '../support/databases.js'

/*
 * A value from a client, in a statement that the database refuses, appears neither in the log, nor in the response, nor in what events have of the error.
 */

@Table({ tableName: 'note', timestamps: false })
class Note extends Base<Note> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING(60), allowNull: false, unique: true }) declare text: string
  @Column({ type: DataType.INTEGER }) declare parent_id: CreationOptional<number | null>
}

class Input {
  @Field({ type: 'string' }) body!: string
}

const SECRET = 'hidden7391'

type Fail = (secret: string, session: Session) => Promise<unknown>

/** Each is refused by every database, unless it is said otherwise. */
const FAILURES: Readonly<Record<string, Fail>> = {
  'a text that is too long (not on SQLite)': (secret) => Note.create({ text: secret + 'x'.repeat(90) }),
  'a text that exists': (secret) => Note.bulkCreate([{ text: secret }, { text: secret }]),
  'a NULL beside it': async (secret) => {
    await Note.create({ text: secret })
    await Note.update({ text: literal('NULL') as never }, { where: { text: secret } })
  },
  'an unknown column beside a literal': (secret) => Note.findAll({ where: { text: secret, [unknown]: secret } }),
  'an unknown column beside a bound value': (secret, session) =>
    session.execute(sql`SELECT nothing FROM note WHERE text = ${secret}`),
  'an unknown table': (secret, session) => session.execute(sql`DELETE FROM nowhere WHERE text = ${secret}`),
  'a function that does not exist': (secret, session) => session.execute(sql`SELECT no_function(${secret})`),
  'replaced values': (secret, session) =>
    session.sequelize.query('SELECT nothing FROM note WHERE text = :secret', { replacements: { secret } }),
  'a row that is updated to one that exists': async (secret) => {
    await Note.bulkCreate([{ text: secret }, { text: 'other' }])
    await Note.update({ text: secret }, { where: { text: 'other' } })
  },
}

const unknown = 'nothing' as 'id'

@Controller('/')
class Failing {
  @Post('/:path') async fail(
    input: Input,
    session: Session,
    @Path() path: string,
    @Query() query: string,
    @Header('x-key') key: string,
  ) {
    const [, work] = Object.entries(FAILURES)[Number(query)] ?? []
    await work?.(`${input.body} ${path} ${key}`, session)
  }
}

for (const kind of databases)
  for (const fastPath of [true, false])
    test(`${kind.name}: values of refused statements appear nowhere, ${fastPath ? 'fast' : 'stock'} path`, async (t) => {
      const options = { lifespan: { echo: false, fastPath } }
      const { fetch, log } = await databaseApp(t, kind, [Note], [Failing], options)
      await Note.create({ text: 'a' })
      const seen: string[] = []
      const onStatement = (message: unknown) => {
        const { error } = message as { readonly error?: unknown }
        if (error instanceof Error) seen.push(`${error.message} ${error.stack}`)
      }
      subscribe('sequitur.statement', onStatement)
      t.after(() => unsubscribe('sequitur.statement', onStatement))
      for (const [index, name] of Object.keys(FAILURES).entries()) {
        const body = JSON.stringify({ body: `b${SECRET}` })
        const headers = { 'content-type': 'application/json', 'x-key': `h${SECRET}` }
        const response = await fetch(`/p?query=${index}`, { method: 'POST', body, headers })
        seen.push(await response.text(), ...log.splice(0))
        if (!name.includes('SQLite')) assert.ok(response.status >= 400, name)
        assert.deepEqual([name, seen.splice(0).filter((text) => text.includes(SECRET))], [name, []])
      }
    })
