import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, Get, select } from 'sequitur'
import { newPagination, TwoWayPage } from 'sequitur/cursor'
import { databaseApp, databases } from '../support/databases.js'

/* Texts that look the same, é as one code point and as two, and texts that a collation takes for equal. */

@Table({ tableName: 'word', timestamps: false })
class Word extends Base<Word> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.STRING(40), allowNull: false }) declare text: string
}

class BothWays<T> extends newPagination({ prevCursor: true })<T> {}

@Controller('/')
class Words {
  @Get('/up', TwoWayPage.of(Word)) up(paginate: BothWays<Word>) {
    return paginate(select(Word, { order: ['text'] }))
  }
  @Get('/down', TwoWayPage.of(Word)) down(paginate: BothWays<Word>) {
    return paginate(select(Word, { order: [['text', 'DESC']] }))
  }
}

interface Answer {
  readonly data: readonly { readonly id: number; readonly text: string }[]
  readonly meta: Readonly<Record<'next_cursor' | 'prev_cursor', string | null>>
}

const FORMS = [
  '\u00e9',
  'e\u0301',
  'e',
  'E',
  '\u00c9',
  'E\u0301',
  '\u017f',
  's',
  '\u00df',
  'ss',
  '\u00c5',
  'A\u030a',
  '\u212b',
  '\uac00',
  '\u1100\u1161',
  'fi',
  '\ufb01',
  'e ',
  'f',
  'd',
]
const TEXTS = [...FORMS, ...FORMS.slice(0, 4)]

for (const kind of databases)
  test(`${kind.name}: pages by cursor are those of the whole list, whatever the Unicode form of its texts`, async (t) => {
    const { fetch } = await databaseApp(t, kind, [Word], [Words], { lifespan: { echo: false } })
    await Word.bulkCreate(TEXTS.map((text, id) => ({ id, text })))
    const page = async (path: string) => (await (await fetch(path)).json()) as Answer
    for (const path of ['/up', '/down']) {
      const { data: whole } = await page(`${path}?limit=100`)
      assert.deepEqual(
        new Set(whole.map(({ id, text }) => `${id} ${text}`)),
        new Set(TEXTS.map((text, id) => `${id} ${text}`)),
      )
      for (const limit of [1, 3]) {
        const pages = [await page(`${path}?limit=${limit}`)]
        for (let cursor = pages[0]?.meta.next_cursor; cursor; cursor = pages.at(-1)?.meta.next_cursor)
          pages.push(await page(`${path}?limit=${limit}&next_cursor=${cursor}`))
        assert.deepEqual(
          pages.flatMap(({ data }) => data),
          whole,
        )
        for (const [at, { meta }] of pages.entries())
          if (meta.prev_cursor)
            assert.deepEqual(
              (await page(`${path}?limit=${limit}&prev_cursor=${meta.prev_cursor}`)).data,
              pages[at - 1]?.data,
            )
      }
    }
  })
