import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { Base, Collection, Controller, Get, Page, Paginate, select, Session, sql } from 'sequitur'
import { CursorPage, CursorPaginate } from 'sequitur/cursor'
import { type CreationOptional, Op } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { startsWith } from '../../example/recipes/search.js'
import { databaseApp, databases } from '../support/databases.js'
import { runs } from '../support/fuzz.js'

@Table({ tableName: 'file', timestamps: false })
class File extends Base<File> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, allowNull: false }) declare name: string
}

@Controller('/')
class Files {
  @Get('/plain', Collection.of(File)) async plain(name: string, session: Session) {
    return { data: await session.all(select(File, { where: { name: { [Op.startsWith]: name } }, order: ['id'] })) }
  }
  @Get('/escaped', Page.of(File)) escaped(name: string, session: Session, paginate: Paginate<File>) {
    return paginate(select(File, { where: { name: startsWith(name, session) } }))
  }
  @Get('/cursor', CursorPage.of(File)) cursor(name: string, session: Session, paginate: CursorPaginate<File>) {
    return paginate(select(File, { where: { name: startsWith(name, session) }, order: ['id'] }))
  }
  @Get('/text', Collection.of(File)) async text(name: string, session: Session) {
    const pattern = `${name.replace(/[!%_]/g, '!$&')}%`
    return {
      data: await session.execute(sql<File>`SELECT * FROM file WHERE name LIKE ${pattern} ESCAPE '!' ORDER BY id`),
    }
  }
}

const NAMES = ['a%b', 'axb', 'a_b', 'a\\b', 'a\\%', 'a!b', '!_', "a'b", '"', '$1', '?', ':name', '\\', '%', '_', '']
const hostile = fc.string({ unit: fc.constantFrom(...'ab%_\\!\'"$1?:'), minLength: 1, maxLength: 3 })

for (const kind of databases) {
  test(`on ${kind.name} a pattern of a client that ends with a backslash is no fault of the server`, async (t) => {
    @Controller('/')
    class Endings {
      @Get('/', Collection.of(File)) async list(name: string, session: Session) {
        return { data: await session.all(select(File, { where: { name: { [Op.like]: name } } })) }
      }
    }
    const { fetch } = await databaseApp(t, kind, [File], [Endings])
    await File.create({ name: 'a\\' })
    assert.equal((await fetch('/?name=a%5C')).status, kind.name === 'PostgreSQL' ? 422 : 200)
  })

  test(`on ${kind.name} the wildcards of LIKE are escaped only where the program does it`, async (t) => {
    const { fetch } = await databaseApp(t, kind, [File], [Files])
    await File.bulkCreate(NAMES.map((name) => ({ name })))
    const names = async (path: string, name: string) => {
      const response = await fetch(`/${path}?limit=100&name=${encodeURIComponent(name)}`)
      const { data } = (await response.json()) as { data: { name: string }[] }
      return data.map((file) => file.name)
    }
    assert.deepEqual(await names('plain', '%'), NAMES)
    assert.ok((await names('plain', 'a_b')).includes('axb'))
    await fc.assert(
      fc.asyncProperty(hostile, async (text) => {
        const expected = NAMES.filter((name) => name.startsWith(text))
        for (const path of ['escaped', 'cursor', 'text']) assert.deepEqual(await names(path, text), expected, path)
      }),
      {
        numRuns: runs(40),
        examples: [...NAMES.filter((name) => name !== '').map((name): [string] => [name]), ['a\\'], ['!']],
      },
    )
  })
}
