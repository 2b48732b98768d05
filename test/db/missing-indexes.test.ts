import assert from 'node:assert/strict'
import { test } from 'node:test'
import { literal, type QueryInterface } from 'sequelize'
import {
  BelongsTo,
  Column,
  DataType,
  DefaultScope,
  ForeignKey,
  Index,
  Model,
  type ModelCtor,
  Table,
} from 'sequelize-typescript'
import { newLifespan, withSession } from 'sequitur'
import { databases, postgres, sqliteFile, sqliteMemory, type TestDatabase } from '../support/databases.js'

const timestamps = { timestamps: false }
const { INTEGER, STRING } = DataType
const id = { type: INTEGER, primaryKey: true, autoIncrement: true }
const text = { type: STRING(50), allowNull: true }

@Table({ tableName: 'author', ...timestamps })
class Author extends Model {
  @Column(text) declare name: string | null
}

@Table({ tableName: 'article', ...timestamps })
class Article extends Model {
  @ForeignKey(() => Author) @Column({ type: INTEGER, field: 'author_id' }) declare authorId: number | null
  @BelongsTo(() => Author) declare author: Author | null
  @Column(text) declare title: string | null
}

const article = { id, author_id: { type: INTEGER }, title: text }

/** What a check of these models says, after a migration has created the tables. */
async function hintsOn(
  kind: TestDatabase,
  models: readonly ModelCtor[],
  migrate: (context: QueryInterface) => Promise<void>,
): Promise<readonly string[]> {
  const url = await kind.url()
  await withSession(newLifespan(url), ({ sequelize }) => migrate(sequelize.getQueryInterface()))
  const { models: fitting, hints } = await newLifespan(url, { models }).check()
  assert.equal(fitting, models.length)
  return hints
}

/** The check opens another connection: a database in memory would be another one. */
const kinds = [sqliteFile, ...databases.filter((kind) => kind !== sqliteFile && kind !== sqliteMemory)]

for (const kind of kinds) {
  test(`a foreign key without an index is found, and one that an index begins with is none: ${kind.name}`, async () => {
    const models = [Author, Article]
    const withIndex = (fields: string[]) =>
      hintsOn(kind, models, async (context) => {
        await context.createTable('author', { id, name: text })
        await context.createTable('article', article)
        await context.addIndex('article', fields)
      })
    assert.deepEqual(await withIndex(['author_id', 'title']), [])
    assert.deepEqual(await withIndex(['title', 'author_id']), [
      'no index begins with column author_id of table article, a foreign key (Article.authorId). ' +
        "Add it in a migration: await context.addIndex('article', ['author_id'])",
    ])
  })

  test(`the leading column of a primary key needs no index, the second one does: ${kind.name}`, async () => {
    @Table({ tableName: 'writes', ...timestamps })
    class Writes extends Model {
      @ForeignKey(() => Author)
      @Column({ type: INTEGER, primaryKey: true, field: 'author_id' })
      declare authorId: number
      @ForeignKey(() => Article)
      @Column({ type: INTEGER, primaryKey: true, field: 'article_id' })
      declare articleId: number
      @BelongsTo(() => Author) declare author: Author | null
      @BelongsTo(() => Article) declare article: Article | null
    }
    const hints = await hintsOn(kind, [Author, Article, Writes], async (context) => {
      await context.createTable('author', { id, name: text })
      await context.createTable('article', article)
      await context.addIndex('article', ['author_id'])
      const key = { type: INTEGER, primaryKey: true, allowNull: false }
      await context.createTable('writes', { author_id: key, article_id: key })
    })
    assert.deepEqual(hints, [
      'no index begins with column article_id of table writes, a foreign key (Writes.articleId). ' +
        "Add it in a migration: await context.addIndex('writes', ['article_id'])",
    ])
  })

  test(`declared indexes that the table lacks are found: ${kind.name}`, async () => {
    @Table({ tableName: 'tag', ...timestamps })
    class Tag extends Model {
      @Column({ ...text, unique: true }) declare name: string | null
      @Index @Column({ ...text, field: 'label_text' }) declare label: string | null
      @Index('both') @Column(text) declare first: string | null
      @Index({ name: 'both', order: 'DESC' }) @Column(text) declare second: string | null
    }
    const create = (context: QueryInterface) =>
      context.createTable('tag', { id, name: text, label_text: text, first: text, second: text })
    assert.deepEqual(await hintsOn(kind, [Tag], create), [
      'index both, which Tag declares, is missing in table tag. ' +
        "Add it in a migration: await context.addIndex('tag', ['first', { name: 'second', order: 'DESC' }], { name: 'both' })",
      'index tag_label, which Tag declares, is missing in table tag. ' +
        "Add it in a migration: await context.addIndex('tag', ['label_text'], { name: 'tag_label' })",
      'index tag_name_unique, which Tag declares, is missing in table tag. ' +
        "Add it in a migration: await context.addIndex('tag', ['name'], { name: 'tag_name_unique', unique: true })",
    ])
    const added = await hintsOn(kind, [Tag], async (context) => {
      await create(context)
      await context.addIndex('tag', ['label_text'], { name: 'another_name' })
      await context.addIndex('tag', { fields: ['first', { name: 'second', order: 'DESC' }], name: 'both' })
      await context.addIndex('tag', ['name'], { unique: true, name: 'tag_name_unique' })
    })
    assert.deepEqual(added, [])
    const ambiguous = await hintsOn(kind, [Tag], async (context) => {
      await create(context)
      await context.addIndex('tag', ['label_text'])
      await context.addIndex('tag', ['first', 'second'])
      await context.addIndex('tag', ['name'], { name: 'tag_name_unique' })
    })
    assert.deepEqual(ambiguous, [
      'index tag_name_unique, which Tag declares, is not unique in table tag. Remove it in a migration first. ' +
        "Add it in a migration: await context.addIndex('tag', ['name'], { name: 'tag_name_unique', unique: true })",
    ])
  })

  test(`the order of a default scope is served by an index that is read forwards or backwards: ${kind.name}`, async () => {
    @DefaultScope(() => ({
      where: { state: 'open' },
      order: [
        ['createdOn', 'DESC'],
        ['id', 'DESC'],
      ],
    }))
    @Table({ tableName: 'entry', ...timestamps })
    class Entry extends Model {
      @Column(text) declare state: string | null
      @Column({ ...text, field: 'created_on' }) declare createdOn: string | null
    }
    const withIndex = (...fields: string[]) =>
      hintsOn(kind, [Entry], async (context) => {
        await context.createTable('entry', { id, state: text, created_on: text })
        if (fields.length > 0) await context.addIndex('entry', fields)
      })
    const missing = [
      'no index of table entry has the order of the default scope of Entry. ' +
        "Add it in a migration: await context.addIndex('entry', ['created_on'])",
    ]
    assert.deepEqual(await withIndex(), missing)
    assert.deepEqual(await withIndex('created_on'), [])
    assert.deepEqual(await withIndex('state', 'created_on'), [])
    assert.deepEqual(await withIndex('id', 'created_on'), missing)
  })

  test(`an index of mixed directions serves no order of one direction: ${kind.name}`, async () => {
    @DefaultScope(() => ({ order: ['first', ['second', 'DESC']] }))
    @Table({ tableName: 'pair', ...timestamps })
    class Pair extends Model {
      @Column(text) declare first: string | null
      @Column(text) declare second: string | null
    }
    const withIndex = (...fields: (string | { name: string; order: 'ASC' | 'DESC' })[]) =>
      hintsOn(kind, [Pair], async (context) => {
        await context.createTable('pair', { id, first: text, second: text })
        await context.addIndex('pair', { fields })
      })
    const down = (name: string) => ({ name, order: 'DESC' as const })
    assert.deepEqual(await withIndex('first', 'second'), [
      'no index of table pair has the order of the default scope of Pair. ' +
        "Add it in a migration: await context.addIndex('pair', ['first', { name: 'second', order: 'DESC' }])",
    ])
    assert.deepEqual(await withIndex('first', down('second')), [])
    assert.deepEqual(await withIndex(down('first'), 'second'), [])
  })
}

for (const kind of kinds.filter(({ name }) => !/MariaDB/.test(name))) {
  test(`a partial index serves no foreign key, and is compared by its name: ${kind.name}`, async () => {
    @Table({ tableName: 'article', ...timestamps, indexes: [{ name: 'titled', fields: ['title'], where: { id: 1 } }] })
    class Titled extends Model {
      @ForeignKey(() => Author) @Column({ type: INTEGER, field: 'author_id' }) declare authorId: number | null
      @BelongsTo(() => Author) declare author: Author | null
      @Column(text) declare title: string | null
    }
    const withIndex = (name: string) =>
      hintsOn(kind, [Author, Titled], async (context) => {
        await context.createTable('author', { id, name: text })
        await context.createTable('article', article)
        await context.addIndex('article', ['author_id'], { name: 'partial', where: { title: 'x' } })
        await context.addIndex('article', ['title'], { name, where: { id: 1 } })
      })
    const key =
      'no index begins with column author_id of table article, a foreign key (Titled.authorId). ' +
      "Add it in a migration: await context.addIndex('article', ['author_id'])"
    assert.deepEqual(await withIndex('titled'), [key])
    assert.deepEqual(await withIndex('other'), [
      'index titled, which Titled declares, is missing in table article. ' +
        "Add it in a migration, with the options that the model gives it: await context.addIndex('article', { ... })",
      key,
    ])
  })
}

test('on PostgreSQL an index of an expression serves no column after it, and a view lacks no index', async () => {
  const lowered = await hintsOn(postgres, [Author, Article], async (context) => {
    await context.createTable('author', { id, name: text })
    await context.createTable('article', article)
    await context.addIndex('article', { name: 'lowered', fields: [literal('lower(title)'), 'author_id'] })
  })
  assert.deepEqual(lowered, [
    'no index begins with column author_id of table article, a foreign key (Article.authorId). ' +
      "Add it in a migration: await context.addIndex('article', ['author_id'])",
  ])
  const view = await hintsOn(postgres, [Author, Article], async (context) => {
    await context.createTable('author', { id, name: text })
    await context.sequelize.query('CREATE VIEW article AS SELECT id, id AS author_id, name AS title FROM author')
  })
  assert.deepEqual(view, [])
})

test('on SQLite an index of an expression serves no column after it, and stops no start', async () => {
  const hints = await hintsOn(sqliteFile, [Author, Article], async (context) => {
    await context.createTable('author', { id, name: text })
    await context.createTable('article', article)
    await context.sequelize.query('CREATE INDEX by_title ON article (lower(title), author_id)')
  })
  assert.equal(hints.length, 1)
  assert.match(hints.join(), /author_id/)
})

test('a table that sync creates at the start lacks no index', async () => {
  const { hints } = await newLifespan(await sqliteFile.url(), { models: [Author, Article], sync: true }).check()
  assert.deepEqual(hints, [])
})
