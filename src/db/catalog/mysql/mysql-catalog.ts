import { QueryTypes, type Sequelize, type Transaction } from 'sequelize'
import type { Action, Catalog, ForeignKey, Index, IndexPart, Table, TableKind, TableName } from '../catalog.js'
import { groupedBy } from '../grouped-by.js'
import { toColumn } from './column.js'
import {
  type CheckRow,
  type ColumnRow,
  type ForeignKeyRow,
  type IndexRow,
  type OfTable,
  statementsFor,
  type TableRow,
  type TriggerRow,
  type ViewRow,
} from './statements.js'

/** Reads the current database. Its kind is that of the server: a driver for MySQL may be connected to MariaDB. */
export async function readMysqlCatalog(
  sequelize: Sequelize,
  only: readonly TableName[] | undefined,
  transaction: Transaction | null,
): Promise<Catalog> {
  const reader = new Reader(sequelize, only, transaction)
  const { isMariadb, foldsNames } = await reader.server()
  const kind = isMariadb ? 'mariadb' : 'mysql'
  if (only?.length === 0) return { kind, tables: [], enums: [] }
  const tables = await reader.tables(isMariadb)
  const read = tables.map(tableReader(await reader.read(isMariadb), isMariadb))
  return { kind, tables: only ? wanted(read, only, foldsNames) : read, enums: [] }
}

/** The server compares names without case here, whatever it does elsewhere. */
function wanted(tables: readonly Table[], only: readonly TableName[], foldsNames: boolean): readonly Table[] {
  if (!foldsNames) return tables.filter(({ name }) => only.some((one) => one.name === name))
  return tables.flatMap((table) => {
    const name = only.find((one) => one.name.toLowerCase() === table.name.toLowerCase())?.name
    return name === undefined ? [] : { ...table, name }
  })
}

interface Server {
  readonly isMariadb: boolean
  /** Whether names of tables are compared without case: on Windows and macOS. */
  readonly foldsNames: boolean
}

interface Rows {
  readonly columns: readonly ColumnRow[]
  readonly indexes: readonly IndexRow[]
  readonly foreignKeys: readonly ForeignKeyRow[]
  readonly checks: readonly CheckRow[]
  readonly triggers: readonly TriggerRow[]
  readonly views: readonly ViewRow[]
}

class Reader {
  readonly #sequelize: Sequelize
  readonly #names: readonly string[] | undefined
  readonly #transaction: Transaction | null

  constructor(sequelize: Sequelize, only: readonly TableName[] | undefined, transaction: Transaction | null) {
    this.#sequelize = sequelize
    this.#names = only?.map(({ name }) => name)
    this.#transaction = transaction
  }

  #query<Row extends object>(statement: string): Promise<Row[]> {
    return this.#sequelize.query<Row>(statement, {
      ...(this.#names ? { replacements: { names: [...this.#names] } } : {}),
      type: QueryTypes.SELECT,
      useMaster: true,
      transaction: this.#transaction,
    })
  }

  async server(): Promise<Server> {
    const [row] = await this.#query<{ readonly version: string; readonly folds: unknown }>(
      'SELECT VERSION() AS version, @@lower_case_table_names AS folds',
    )
    return { isMariadb: row?.version.includes('MariaDB') ?? false, foldsNames: Number(row?.folds) > 0 }
  }

  tables(isMariadb: boolean): Promise<TableRow[]> {
    return this.#query<TableRow>(statementsFor(isMariadb, this.#names !== undefined).tables)
  }

  async read(isMariadb: boolean): Promise<Rows> {
    const statements = statementsFor(isMariadb, this.#names !== undefined)
    return {
      columns: await this.#query<ColumnRow>(statements.columns),
      indexes: await this.#query<IndexRow>(statements.indexes),
      foreignKeys: await this.#query<ForeignKeyRow>(statements.foreignKeys),
      checks: await this.#query<CheckRow>(statements.checks),
      triggers: await this.#query<TriggerRow>(statements.triggers),
      views: await this.#query<ViewRow>(statements.views),
    }
  }
}

const byTable = <T extends OfTable>(rows: readonly T[]) => groupedBy(rows, ({ table_name }) => table_name)

function tableReader(rows: Rows, isMariadb: boolean): (table: TableRow) => Table {
  const columns = byTable(rows.columns)
  const indexes = byTable(rows.indexes)
  const foreignKeys = byTable(rows.foreignKeys)
  const checks = byTable(rows.checks)
  const triggers = byTable(rows.triggers)
  return (table) => {
    const { name } = table
    const isJson = jsonColumns(checks(name))
    const ownCheck = checksOfColumns(checks(name))
    const keys = groupsOf(foreignKeys(name)).map(toForeignKey)
    const all = groupsOf(indexes(name)).map(toIndex)
    const primary = all.find((index) => index.name === PRIMARY)
    const facts = { isMariadb, tableCollation: table.collation }
    return {
      ...describe(table),
      columns: columns(name).map((row) => toColumn(row, { ...facts, isJson: isJson(row), check: ownCheck(row) })),
      ...(primary
        ? { primaryKey: { name: PRIMARY, columns: primary.columns.flatMap(({ column }) => column ?? []) } }
        : {}),
      uniques: [],
      foreignKeys: keys,
      indexes: all.filter((index) => index !== primary && !isOfForeignKey(index, keys)),
      others: [
        ...checks(name).flatMap((check) => (isJsonCheck(check) ? [] : `check ${check.name}`)),
        ...triggers(name).map((trigger) => `trigger ${trigger.name}`),
        ...viewsOf(table, rows.views),
        ...optionsOf(table, columns(name)),
      ],
    }
  }
}

const PRIMARY = 'PRIMARY'
const KINDS: Readonly<Record<string, TableKind>> = {
  'BASE TABLE': 'table',
  'SYSTEM VERSIONED': 'table',
  VIEW: 'view',
  'SYSTEM VIEW': 'view',
}

function describe({ name, type, comment, estimated }: TableRow) {
  const kind = KINDS[type] ?? 'other'
  return {
    name,
    kind,
    ...(comment && kind === 'table' ? { comment } : {}),
    ...(estimated === null || estimated === undefined ? {} : { estimatedRows: Number(estimated) }),
  }
}

// MariaDB's JSON is the type longtext, with this CHECK of the column's name.
function isJsonCheck({ name, clause }: CheckRow): boolean {
  return clause === `json_valid(\`${name.replaceAll('`', '``')}\`)`
}

function jsonColumns(checks: readonly CheckRow[]): (column: ColumnRow) => boolean {
  const names = new Set(checks.filter(isJsonCheck).map(({ name }) => name))
  return ({ name, type }) => type === 'longtext' && names.has(name)
}

/** The conditions of CHECKs that belong to a column, and are lost with its definition. */
function checksOfColumns(checks: readonly CheckRow[]): (column: ColumnRow) => string | undefined {
  const own = checks.filter((check) => check.level === 'Column' && !isJsonCheck(check))
  return (column) => own.find(({ name }) => name === column.name)?.clause
}

type Group<T> = readonly [T, ...T[]]

function groupsOf<T extends { readonly name: string }>(rows: readonly T[]): Group<T>[] {
  const groups = new Map<string, [T, ...T[]]>()
  for (const row of rows) {
    const group = groups.get(row.name)
    if (group) group.push(row)
    else groups.set(row.name, [row])
  }
  return [...groups.values()]
}

const ACTIONS: readonly string[] = ['CASCADE', 'SET NULL', 'SET DEFAULT'] satisfies Action[]

// The server says RESTRICT for a key without actions, and NO ACTION for one with them: there, both are the same.
function toAction(rule: string): Action {
  return isAction(rule) ? rule : 'NO ACTION'
}

function isAction(rule: string): rule is Action {
  return ACTIONS.includes(rule)
}

function toForeignKey(rows: Group<ForeignKeyRow>): ForeignKey {
  const [{ name, target, target_schema: schema, on_delete, on_update }] = rows
  return {
    name,
    columns: rows.map(({ column_name }) => column_name),
    table: schema === null ? { name: target } : { schema, name: target },
    references: rows.map(({ reference }) => reference),
    onDelete: toAction(on_delete),
    onUpdate: toAction(on_update),
    validated: true,
  }
}

function toIndex(rows: Group<IndexRow>): Index {
  const [{ name, is_not_unique, method }] = rows
  return {
    name,
    unique: Number(is_not_unique) === 0,
    method: method.toLowerCase(),
    columns: rows.map(toPart),
    include: [],
    valid: true,
  }
}

function toPart({ column_name, expression, direction, length }: IndexRow): IndexPart {
  return {
    ...(column_name === null ? {} : { column: column_name }),
    ...(expression === null ? {} : { expression }),
    descending: direction === 'D',
    ...(length === null ? {} : { length: Number(length) }),
  }
}

/** The server makes an index for a foreign key by itself, with the name of the key, or of its first column. */
function isOfForeignKey({ name, unique, columns }: Index, keys: readonly ForeignKey[]): boolean {
  return keys.some(
    (key) =>
      !unique &&
      (name === key.name || name === key.columns[0]) &&
      columns.length === key.columns.length &&
      columns.every(({ column }, index) => column === key.columns[index]),
  )
}

function viewsOf({ name }: TableRow, views: readonly ViewRow[]): string[] {
  const quoted = `\`${name.replaceAll('`', '``')}\``
  return views.flatMap((view) => (view.name !== name && view.definition.includes(quoted) ? `view ${view.name}` : []))
}

function optionsOf({ type, options }: TableRow, columns: readonly ColumnRow[]): string[] {
  return [
    ...(options?.includes('partitioned') ? ['partitions'] : []),
    ...(type === 'SYSTEM VERSIONED' ? ['system versioning'] : []),
    ...columns.flatMap(({ name, extra }) => (extra.toLowerCase().includes('on update') ? `on update ${name}` : [])),
  ]
}
