import type { Model, ModelStatic } from 'sequelize'
import { BootError } from '../core/boot-error.js'
import { dataTypeInternals } from '../db/sequelize/internals.js'
import { tableColumn } from '../db/startup/table-columns.js'
import type { ColumnKind } from './column-codec.js'

/** The kind of an attribute's column. @throws BootError for a type that has no order. */
export function columnKindOf(model: ModelStatic<Model>, name: string): ColumnKind {
  const attribute = model.getAttributes()[name]
  const declared = kindOfType(attribute?.type, `${model.name}.${name}`)
  // The table decides, not the model: a STRING of the model may be an ENUM in the table, which is sorted by its index.
  const column = tableColumn(model, attribute?.field ?? name)
  return KINDS_IN_TABLES.find(([type]) => column && type.test(column.type))?.[1] ?? declared
}

/** The kind of a Sequelize data type. @throws BootError for a type that has no order. */
export function kindOfType(type: unknown, where: string): ColumnKind {
  const { key = '' } = dataTypeInternals(type)
  if (WITHOUT_ORDER.has(key))
    throw new BootError(
      `${where} has the type ${key}, which has no order. Order by another column, or by an expression of this one: typed(...) of 'sequitur/cursor'.`,
    )
  // A data type that is not listed counts as text: the cursor holds its value as a string, which the database compares with the column.
  return KINDS[key] ?? 'text'
}

const WITHOUT_ORDER: ReadonlySet<string> = new Set(['VIRTUAL', 'JSON', 'JSONB', 'GEOMETRY', 'GEOGRAPHY', 'HSTORE'])

const KINDS: Readonly<Record<string, ColumnKind>> = {
  TINYINT: 'integer',
  SMALLINT: 'integer',
  MEDIUMINT: 'integer',
  INTEGER: 'integer',
  BIGINT: 'integer',
  BOOLEAN: 'integer',
  DECIMAL: 'decimal',
  FLOAT: 'float',
  REAL: 'float',
  'DOUBLE PRECISION': 'float',
  NUMBER: 'float',
  DATE: 'date-time',
  NOW: 'date-time',
  DATEONLY: 'date',
  TIME: 'time',
  ENUM: 'enum',
  BLOB: 'bytes',
}

/** By the names of types in the tables of MySQL and MariaDB; on other databases no comparison depends on the kind. */
const KINDS_IN_TABLES: readonly (readonly [RegExp, ColumnKind])[] = [
  [/^(?:ENUM|SET)\b/i, 'enum'],
  [/^(?:VAR)?BINARY\b|BLOB\b/i, 'bytes'],
  [/^(?:(?:TINY|SMALL|MEDIUM|BIG)?INT|BIT|YEAR)\b/i, 'integer'],
  [/^DECIMAL\b/i, 'decimal'],
  [/^(?:FLOAT|DOUBLE)\b/i, 'float'],
  [/^(?:DATETIME|TIMESTAMP)\b/i, 'date-time'],
  [/^DATE\b/i, 'date'],
  [/^TIME\b/i, 'time'],
  [/CHAR|TEXT/i, 'text'],
]
