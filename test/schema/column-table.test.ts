import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, dto, Item, Post, Session } from 'sequitur'
import { databaseApp, databases } from '../support/databases.js'

/*
 * The table of docs/schemas.md: each column is what the table says.
 */

const page = readFileSync(new URL('../../docs/schemas.md', import.meta.url), 'utf8')
const ROW = /^\| `([^`]+)` \| `[^`]+` \| `([^`]+)` \| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$/gm
const rows = [...page.matchAll(ROW)].map(([, type = '', json = '', openApi = '', ...sql]) => ({
  type,
  json: JSON.parse(json) as unknown,
  openApi,
  sql,
}))

@Table({ tableName: 'all_types', timestamps: false })
class AllTypes extends Base<AllTypes> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING(50), allowNull: false }) declare c0: string
  @Column({ type: DataType.CHAR(2), allowNull: false }) declare c1: string
  @Column({ type: DataType.TEXT, allowNull: false }) declare c2: string
  @Column({ type: DataType.BOOLEAN, allowNull: false }) declare c3: boolean
  @Column({ type: DataType.SMALLINT, allowNull: false }) declare c4: number
  @Column({ type: DataType.INTEGER, allowNull: false }) declare c5: number
  @Column({ type: DataType.BIGINT, allowNull: false }) declare c6: string
  @Column({ type: DataType.DECIMAL(12, 2), allowNull: false }) declare c7: string
  @Column({ type: DataType.FLOAT, allowNull: false }) declare c8: number
  @Column({ type: DataType.DOUBLE, allowNull: false }) declare c9: number
  @Column({ type: DataType.DATE, allowNull: false }) declare c10: Date
  @Column({ type: DataType.DATEONLY, allowNull: false }) declare c11: string
  @Column({ type: DataType.TIME, allowNull: false }) declare c12: string
  @Column({ type: DataType.UUID, allowNull: false }) declare c13: string
  @Column({ type: DataType.ENUM('a', 'b'), allowNull: false }) declare c14: 'a' | 'b'
  @Column({ type: DataType.BLOB, allowNull: false }) declare c15: Buffer
  @Column({ type: DataType.JSON, allowNull: false }) declare c16: unknown
}
class NewAllTypes extends dto(AllTypes, { omit: ['id'] }) {}

@Controller('/all-types')
class AllTypesController {
  @Post('/', Item.of(AllTypes)) async create(input: NewAllTypes, session: Session) {
    session.add(AllTypes.build(input))
    await session.flush()
    return { data: (await session.get(AllTypes, 1)) as AllTypes } // it was just written
  }
}

/** Of Sequelize, for the types of a new table. */
interface Generator {
  readonly queryGenerator: { attributesToSQL(attributes: object): Readonly<Record<string, string>> }
}

assert.equal(rows.length, 17)
const columns = Object.fromEntries(rows.map(({ json }, index) => [`c${index}`, json]))

for (const kind of databases)
  test(`${kind.name}: each column takes and sends the JSON of the table, and has its types in the document and the database`, async (t) => {
    const { fetch, database } = await databaseApp(t, kind, [AllTypes], [AllTypesController])
    const created = await fetch('/all-types', { method: 'POST', json: columns })
    assert.deepEqual(await created.json(), { data: { id: 1, ...columns } })
    const { components } = (await (await fetch('/openapi.json')).json()) as {
      components: {
        schemas: Record<string, { properties: Record<string, { type: string | string[]; format?: string }> }>
      }
    }
    const { properties = {} } = components.schemas['AllTypes'] ?? {}
    const documented = rows.map((_, index) => {
      const { type, format } = properties[`c${index}`] ?? {}
      return [type, format ?? []].flat().join(', ')
    })
    assert.deepEqual(
      documented,
      rows.map(({ openApi }) => openApi),
    )
    const { sequelize } = database
    const { queryGenerator } = sequelize.getQueryInterface() as unknown as Generator
    const types = queryGenerator.attributesToSQL(AllTypes.getAttributes())
    const place = ['postgres', 'mariadb', 'sqlite'].indexOf(sequelize.getDialect().replace('mysql', 'mariadb'))
    assert.deepEqual(
      rows.map((_, index) => types[`c${index}`]?.replace(' NOT NULL', '')),
      rows.map(({ sql }) => sql[place]),
    )
  })
