import { QueryTypes, type Sequelize, type Transaction } from 'sequelize'
import type {
  Action,
  Catalog,
  Column,
  Constraint,
  EnumType,
  ForeignKey,
  Identity,
  Index,
  IndexPart,
  Table,
  TableKind,
  TableName,
} from '../catalog.js'
import { groupedBy } from '../grouped-by.js'
import {
  CATALOG,
  type CatalogRow,
  type ColumnRow,
  type ConstraintRow,
  type IndexPartRow,
  type IndexRow,
  type OfTable,
  type TableRow,
} from './statement.js'

/** @param only undefined for all tables, but partitions and those of extensions. */
export async function readPostgresCatalog(
  sequelize: Sequelize,
  only: readonly TableName[] | undefined,
  transaction: Transaction | null,
): Promise<Catalog> {
  const [row] = await sequelize.query<{ readonly catalog: string }>(CATALOG, {
    bind: [only === undefined ? null : JSON.stringify(only)],
    type: QueryTypes.SELECT,
    useMaster: true,
    transaction,
  })
  // The members are those that the statement names.
  return toCatalog(JSON.parse(row?.catalog ?? '{"schema":null}') as CatalogRow)
}

function toCatalog(row: CatalogRow): Catalog {
  const toTable = tableReader(row)
  return {
    kind: 'postgres',
    ...(row.schema === null ? {} : { schema: row.schema }),
    tables: (row.tables ?? []).map(toTable),
    enums: (row.enums ?? []).map(toEnum),
  }
}

function toEnum({ name, schema, values }: NonNullable<CatalogRow['enums']>[number]): EnumType {
  return { ...nameOf(schema, name), values: values ?? [] }
}

function nameOf(schema: string | null, name: string): TableName {
  return schema === null ? { name } : { schema, name }
}

const byTable = <T extends OfTable>(rows: readonly T[] | null) => groupedBy(rows ?? [], ({ table }) => String(table))

function tableReader(row: CatalogRow): (table: TableRow) => Table {
  const columns = byTable(row.columns)
  const constraints = byTable(row.constraints)
  const indexes = byTable(row.indexes)
  const others = byTable(row.others)
  return (table) => {
    const id = String(table.id)
    const own = constraints(id)
    return {
      ...describe(table),
      columns: columns(id).map(toColumn),
      ...keysOf(own),
      indexes: indexes(id).map(toIndex),
      others: [...checksOf(own), ...others(id).map(({ kind, name }) => `${kind} ${name}`), ...limitOf(table)],
    }
  }
}

const KINDS: Readonly<Record<string, TableKind>> = { r: 'table', p: 'table', v: 'view', m: 'materialized view' }

function describe({ name, schema, kind, comment, estimated }: TableRow) {
  return {
    ...nameOf(schema, name),
    kind: KINDS[kind] ?? 'other',
    ...(comment === null ? {} : { comment }),
    ...(estimated < 0 ? {} : { estimatedRows: Math.round(estimated) }),
  }
}

function limitOf({ isLimited }: TableRow): string[] {
  return isLimited ? ['row level security'] : []
}

function checksOf(rows: readonly ConstraintRow[]): string[] {
  return rows.flatMap(({ kind, name }) => (kind === 'c' ? `check ${name}` : kind === 'x' ? `exclusion ${name}` : []))
}

function keysOf(rows: readonly ConstraintRow[]) {
  const [primaryKey] = rows.filter(({ kind }) => kind === 'p').map(toConstraint)
  const checks = rows.filter(({ kind, columns }) => kind === 'c' && columns !== null).map(toConstraint)
  return {
    ...(primaryKey ? { primaryKey } : {}),
    ...(checks.length === 0 ? {} : { checks }),
    uniques: rows.filter(({ kind }) => kind === 'u').map(toConstraint),
    foreignKeys: rows.filter(({ kind }) => kind === 'f').map(toForeignKey),
  }
}

function toConstraint({ name, columns }: ConstraintRow): Constraint {
  return { name, columns: columns ?? [] }
}

const ACTIONS: Readonly<Record<string, Action>> = { r: 'RESTRICT', c: 'CASCADE', n: 'SET NULL', d: 'SET DEFAULT' }

function toForeignKey(row: ConstraintRow): ForeignKey {
  return {
    ...toConstraint(row),
    table: nameOf(row.target?.schema ?? null, row.target?.name ?? ''),
    references: row.references ?? [],
    onDelete: ACTIONS[row.onDelete] ?? 'NO ACTION',
    onUpdate: ACTIONS[row.onUpdate] ?? 'NO ACTION',
    ...(row.isDeferrable ? { deferrable: row.isDeferred ? 'deferred' : 'immediate' } : {}),
    validated: row.isValidated,
  }
}

function toColumn(row: ColumnRow): Column {
  const { name, type, baseType, isNotNull, isDomainNotNull, collation, comment, values } = row
  return {
    name,
    type,
    ...(baseType === null ? {} : { baseType }),
    ...(values === null ? {} : { enumValues: values }),
    nullable: !isNotNull && !isDomainNotNull,
    ...(isDomainNotNull && !isNotNull ? { notNullByDomain: true } : {}),
    ...valueOf(row),
    ...(collation === null ? {} : { collation }),
    ...(comment === null ? {} : { comment }),
  }
}

const IDENTITIES: Readonly<Record<string, Identity>> = { a: 'identity always', d: 'identity by default' }

type Value = Pick<Column, 'default' | 'identity' | 'sequence' | 'hasNarrowSequence' | 'generated'>

function valueOf({ expression, generated, identity, hasOwnSequence, hasNarrowSequence }: ColumnRow): Value {
  const kind = IDENTITIES[identity]
  if (kind) return { identity: kind }
  if (expression === null) return {}
  if (generated) return { generated: { expression, stored: generated === 's' } }
  if (!isNextOfSequence(expression)) return { default: expression }
  return {
    identity: 'serial',
    ...(hasOwnSequence ? {} : { sequence: expression }),
    ...(hasNarrowSequence ? { hasNarrowSequence } : {}),
  }
}

/** `nextval('hero_id_seq'::regclass)`, also of a sequence that another table has, or none. */
function isNextOfSequence(expression: string): boolean {
  const [begin, end] = ["nextval('", "'::regclass)"]
  return expression.startsWith(begin) && expression.indexOf(end) === expression.length - end.length
}

function toIndex({ name, isUnique, method, isValid, condition, keys, parts }: IndexRow): Index {
  return {
    name,
    unique: isUnique,
    method,
    columns: parts.slice(0, keys).map(toPart),
    ...(condition === null ? {} : { where: condition }),
    include: parts.slice(keys).map(({ column }) => column ?? ''),
    valid: isValid,
  }
}

function toPart({ column, expression, options, operatorClass, collation }: IndexPartRow): IndexPart {
  const descending = ((options ?? 0) & 1) !== 0
  const nullsFirst = ((options ?? 0) & 2) !== 0
  return {
    ...(column === null ? {} : { column }),
    ...(expression === null ? {} : { expression }),
    descending,
    ...(nullsFirst === descending ? {} : { nullsFirst }),
    ...(operatorClass === null ? {} : { operatorClass }),
    ...(collation === null ? {} : { collation }),
  }
}
