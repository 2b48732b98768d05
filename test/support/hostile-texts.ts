import assert from 'node:assert/strict'
import { col, type CreationOptional, fn, Op, QueryTypes, where } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, select, type Session, sql } from 'sequitur'

/*
 * Strings that break SQL if they are not escaped, and every kind of statement that takes one.
 */

@Table({ tableName: 'note', timestamps: false, collate: 'utf8mb4_bin' })
export class Note extends Base<Note> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.TEXT, allowNull: false }) declare text: string
  @Column({ type: DataType.TEXT, allowNull: false, defaultValue: '' }) declare copy: CreationOptional<string>
}

/** Strings that end a literal, a name, a comment or a statement on some database, or that look like a placeholder. */
export const hostile = [
  "'",
  "''",
  "'''",
  '"',
  '`',
  '\\',
  '\\\\',
  "\\'",
  "\\\\'",
  "\\' OR 1=1 -- ",
  "' OR '1'='1",
  "' OR 1=1 -- ",
  "' OR 1=1 #",
  "'; DELETE FROM note; -- ",
  "') UNION SELECT 1, 'x', 'y' -- ",
  '" OR ""="',
  '` OR 1=1 -- ',
  "' /* ",
  '*/ OR 1=1 /*',
  '-- ',
  '#',
  ';',
  '$1',
  '$2',
  "$1' OR 1=1 -- ",
  '$$',
  '$$ OR 1=1 $$',
  '$tag$x$tag$',
  '$name',
  'US$5',
  ':name',
  '::text',
  ':',
  '?',
  '??',
  '? OR 1=1',
  '%',
  '_',
  '%\\',
  "E'\\x41'",
  "N'x'",
  "X'41'",
  '\n',
  '\r\n\t\b\x1a',
  "\u00bf'",
  "\u4f7f' OR 1=1 -- ",
  "\u7e5d\\' OR 1=1 -- ",
  '\u02bc OR 1=1 -- ',
  '\uff07 OR 1=1 -- ',
  '{"a": "\'"}',
  '[1]',
  '0',
  '1e1',
  'null',
  'true',
  "🎉' OR 1=1 -- ",
  '$sequitur_0_',
  '__proto__',
]

type Find = (text: string, session: Session) => Promise<readonly { readonly id: number }[]>

const finds: Readonly<Record<string, Find>> = {
  equal: (text) => Note.findAll({ where: { text } }),
  in: (text) => Note.findAll({ where: { text: [text, `${text} not`] } }),
  session: (text, session) => session.all(select(Note, { where: { text: { [Op.eq]: text } } })),
  and: (text) => Note.findAll({ where: { [Op.and]: [{ text }, { [Op.or]: [{ text }, { id: 0 }] }] } }),
  between: (text) => Note.findAll({ where: { text: { [Op.between]: [text, text] } } }),
  not: async (text) => {
    const others = await Note.findAll({ where: { text: { [Op.notIn]: [text] } } })
    const all = await Note.findAll()
    return all.filter(({ id }) => !others.some((other) => other.id === id))
  },
  function: (text) => Note.findAll({ where: where(fn('coalesce', text, 'x'), { [Op.eq]: col('text') }) }),
  sql: (text, session) => session.execute<{ id: number }>(sql`SELECT id FROM note WHERE text = ${text}`),
  bind: (text, { sequelize }) =>
    sequelize.query<{ id: number }>('SELECT id FROM note WHERE text = $1', { bind: [text], type: QueryTypes.SELECT }),
  named: (text, { sequelize }) =>
    sequelize.query<{ id: number }>('SELECT id FROM note WHERE text = :text AND :text = text', {
      replacements: { text },
      type: QueryTypes.SELECT,
    }),
  positional: (text, { sequelize }) =>
    sequelize.query<{ id: number }>('SELECT id FROM note WHERE text = ? AND id > ?', {
      replacements: [text, 0],
      type: QueryTypes.SELECT,
    }),
  updated: async (text) => {
    const copy = `${Math.random()} ${text}`
    await Note.update({ copy }, { where: { text } })
    return Note.findAll({ where: { copy } })
  },
  updatedIn: async (text) => {
    const copy = `${Math.random()} ${text}`
    await Note.update({ copy }, { where: { text: [text] } })
    return Note.findAll({ where: { copy } })
  },
}

/** Asserts that every kind of statement finds, for each string, the rows that hold it and no others. */
export async function assertFound(texts: readonly string[], session: Session): Promise<void> {
  const notes = await Note.findAll()
  for (const text of texts) {
    const ids = notes.filter((note) => note.text === text).map(({ id }) => id)
    for (const [how, find] of Object.entries(finds)) {
      const found = await find(text, session)
      assert.deepEqual([text, how, found.map(({ id }) => id)], [text, how, ids])
    }
  }
}
