import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, Get, select } from 'sequitur'
import { Page, Paginate } from 'sequitur/cursor'
import { databaseApp, databases } from '../support/databases.js'
import { random } from '../support/fuzz.js'
import { walk } from '../support/walk.js'

@Table({ tableName: 'document', timestamps: false })
class Document extends Base<Document> {
  @Column({ type: DataType.STRING(255), primaryKey: true }) declare url: string
  @Column({ type: DataType.STRING(1000), allowNull: false }) declare title: string
}

@Controller('/documents')
class Documents {
  @Get('/', Page.of(Document)) list(paginate: Paginate<Document>) {
    return paginate(select(Document, { order: ['url'] }))
  }
  @Get('/titles', Page.of(Document)) titles(paginate: Paginate<Document>) {
    return paginate(select(Document, { order: ['title'] }))
  }
}

const next = random(3)

/** Chinese characters in no order: three bytes each, which hardly compress. */
function letters(length: number): string {
  return Array.from({ length }, () => String.fromCodePoint(0x4e00 + next(20_000))).join('')
}

for (const kind of databases) {
  test(`on ${kind.name} rows with keys of 255 Chinese characters are paged by cursor, and linked`, async (t) => {
    const { fetch } = await databaseApp(t, kind, [Document], [Documents])
    await Document.bulkCreate(['b', 'a', 'd', 'c'].map((title) => ({ title: title + letters(400), url: letters(255) })))
    for (const path of ['/documents', '/documents/titles']) {
      const rows = await walk(fetch, path, 1)
      assert.equal(new Set(rows.map(({ url }) => url)).size, 4)
      assert.match((await fetch(`${path}?limit=1`)).headers.get('link') ?? '', /next_cursor=.{512,}; rel="next"$/)
    }
    const titles = (await walk(fetch, '/documents/titles', 3)).map(({ title }) => String(title).slice(0, 1))
    assert.deepEqual(titles, ['a', 'b', 'c', 'd'])
  })
}
