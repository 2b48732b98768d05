import { Base, Controller, Get, Page, Paginate, Query, select } from 'sequitur'
import { type CreationOptional, literal, type Sequelize } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'

@Table({ tableName: 'story', timestamps: false })
export class Story extends Base<Story> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING(200), allowNull: false }) declare title: string
  @Column({ type: DataType.TEXT, allowNull: false }) declare text: string
}

/** What a migration executes for the index, after the table. */
export const INDEX: Readonly<Record<string, readonly string[]>> = {
  postgres: [
    `ALTER TABLE story ADD words tsvector GENERATED ALWAYS AS (to_tsvector('english', title || ' ' || text)) STORED`,
    `CREATE INDEX story_words ON story USING GIN (words)`,
  ],
  mariadb: [`ALTER TABLE story ADD FULLTEXT story_words (title, text)`],
  sqlite: [
    `CREATE VIRTUAL TABLE story_words USING fts5 (title, text, content='story', content_rowid='id', tokenize='porter')`,
    `CREATE TRIGGER story_added AFTER INSERT ON story BEGIN
      INSERT INTO story_words (rowid, title, text) VALUES (new.id, new.title, new.text); END`,
    `CREATE TRIGGER story_removed AFTER DELETE ON story BEGIN
      INSERT INTO story_words (story_words, rowid, title, text) VALUES ('delete', old.id, old.title, old.text); END`,
    `CREATE TRIGGER story_changed AFTER UPDATE ON story BEGIN
      INSERT INTO story_words (story_words, rowid, title, text) VALUES ('delete', old.id, old.title, old.text);
      INSERT INTO story_words (rowid, title, text) VALUES (new.id, new.title, new.text); END`,
  ],
}

/** The condition, and the order by relevance. The words are a literal of Sequelize, which escapes it. */
function search(sequelize: Sequelize, words: string) {
  const all = words.match(/[\p{L}\p{N}]+/gu) ?? []
  switch (sequelize.getDialect()) {
    case 'postgres': {
      const query = `websearch_to_tsquery('english', ${sequelize.escape(words)})` // never fails, whatever the words are
      return { where: literal(`words @@ ${query}`), rank: literal(`ts_rank(words, ${query}) DESC`) }
    }
    case 'sqlite': {
      // FTS5 has a language of its own, in which `*`, `-` and NEAR have a meaning: each word is in quotes.
      const query = sequelize.escape(all.map((word) => `"${word}"`).join(' ') || '""')
      const found = `SELECT rowid FROM story_words WHERE story_words MATCH ${query}`
      const rank = `(SELECT rank FROM story_words WHERE story_words MATCH ${query} AND rowid = id)`
      return { where: literal(`id IN (${found})`), rank: literal(rank) }
    }
    default: {
      // A single `*` is an error of InnoDB, also in this mode.
      const match = `MATCH (title, text) AGAINST (${sequelize.escape(all.join(' '))} IN NATURAL LANGUAGE MODE)`
      return { where: literal(match), rank: literal(`${match} DESC`) }
    }
  }
}

@Controller('/stories')
export class StoryController {
  @Get('/', Page.of(Story))
  list(@Query({ minLength: 1, maxLength: 200, pattern: /^[^\0]*$/ }) q: string, paginate: Paginate<Story>) {
    const { where, rank } = search(Story.sequelize as Sequelize, q) // a model of a running app has one
    return paginate(select(Story, { where, order: [rank, 'id'] }))
  }
}
