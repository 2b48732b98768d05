import { Model as SequelizeModel, type ModelAttributeColumnOptions, type ModelStatic } from 'sequelize'
import { getAttributes, Model } from 'sequelize-typescript'
import { describedBy, type ObjectShape, type Property, type Shape } from '../schema/shape.js'

type ColumnOptions = ModelAttributeColumnOptions & { readonly Model?: unknown }

/** Makes every Sequelize model describe itself by its columns, so that it can be a response, or the source of a dto. */
describedBy.write(SequelizeModel, (type) => modelShape(type as unknown as ModelStatic<SequelizeModel>))

function modelShape(model: ModelStatic<SequelizeModel>): ObjectShape {
  let properties: ReadonlyMap<string, Property> | undefined
  return {
    kind: 'object',
    name: model.name,
    origin: model,
    properties: () =>
      (properties ??= new Map(Object.entries(columnsOf(model)).map(([name, column]) => [name, toProperty(column)]))),
    read: readModel,
  }
}

// A class's own toJSON decides what its instances look like; Sequelize's copies all columns, of which the shape picks.
function readModel(value: object): object {
  const toJSON: unknown = 'toJSON' in value ? value.toJSON : undefined
  if (typeof toJSON !== 'function' || toJSON === SequelizeModel.prototype.toJSON || toJSON === Model.prototype.toJSON)
    return value
  return (value as { toJSON(): object }).toJSON()
}

// Before the model meets its database, only sequelize-typescript's own notes tell of the columns.
function columnsOf(model: ModelStatic<SequelizeModel>): Readonly<Record<string, ColumnOptions>> {
  const initialized = (model as { rawAttributes?: Record<string, ColumnOptions> }).rawAttributes
  return initialized && Object.keys(initialized).length > 0 ? initialized : (getAttributes(model.prototype) ?? {})
}

function toProperty(column: ColumnOptions): Property {
  const nullable = column.allowNull !== false && column.primaryKey !== true
  const shape = {
    ...typeShape(column.type),
    ...(nullable ? { nullable } : {}),
    ...(column.comment ? { description: column.comment } : {}),
  }
  const generated = nullable || column.autoIncrement === true || column.defaultValue !== undefined
  return { shape, optional: false, generated, ...literalDefault(column.defaultValue) }
}

function literalDefault(value: unknown): { default?: unknown } {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? { default: value } : {}
}

interface ColumnType {
  readonly key?: string
  readonly values?: readonly string[]
  readonly type?: unknown
  readonly _length?: number
}

// A type is given as a class (DataType.STRING) or as an instance (DataType.STRING(80)).
function instanceOf(type: unknown): ColumnType {
  return (typeof type === 'function' ? new (type as new () => ColumnType)() : (type ?? {})) as ColumnType
}

const INT32 = { minimum: -(2 ** 31), maximum: 2 ** 31 - 1 }

function typeShape(given: unknown): Shape {
  const type = instanceOf(given)
  switch (type.key) {
    case 'STRING':
    case 'CHAR':
      return { kind: 'string', maxLength: type._length ?? 255 }
    case 'TEXT':
    case 'CITEXT':
    case 'INET':
    case 'CIDR':
    case 'MACADDR':
      return { kind: 'string' }
    case 'UUID':
      return { kind: 'string', format: 'uuid' }
    case 'TIME':
      return { kind: 'string' }
    case 'ENUM':
      return { kind: 'enum', values: type.values ?? [] }
    case 'INTEGER':
      return { kind: 'integer', ...INT32 }
    case 'TINYINT':
    case 'SMALLINT':
    case 'MEDIUMINT':
      return { kind: 'integer' }
    case 'BIGINT':
      return { kind: 'bigint' }
    case 'DECIMAL':
      return { kind: 'decimal' }
    case 'FLOAT':
    case 'REAL':
    case 'DOUBLE PRECISION':
    case 'NUMBER':
      return { kind: 'number' }
    case 'BOOLEAN':
      return { kind: 'boolean' }
    case 'DATE':
      return { kind: 'date-time' }
    case 'DATEONLY':
      return { kind: 'date' }
    case 'BLOB':
      return { kind: 'bytes' }
    case 'ARRAY':
      return { kind: 'array', items: typeShape(type.type) }
    default:
      return { kind: 'any' }
  }
}
