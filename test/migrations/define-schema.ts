import {
  DataTypes,
  literal,
  type Model,
  type ModelAttributeColumnOptions,
  type ModelStatic,
  Sequelize,
} from 'sequelize'

/*
 * Defines the models of a schema in the notation of known-schemas.ts.
 */

const TYPES: Readonly<Record<string, ModelAttributeColumnOptions['type']>> = {
  int: DataTypes.INTEGER,
  small: DataTypes.SMALLINT,
  big: DataTypes.BIGINT,
  decimal: DataTypes.DECIMAL(10, 2),
  real: DataTypes.REAL,
  double: DataTypes.DOUBLE,
  bool: DataTypes.BOOLEAN,
  date: DataTypes.DATE,
  day: DataTypes.DATEONLY,
  text: DataTypes.TEXT,
  blob: DataTypes.BLOB,
  json: DataTypes.JSON,
  uuid: DataTypes.UUID,
}

const COLUMN = /^(\w+)(?::(\d+)|@(\w+)|>(\w+)|\(([^)]*)\))?([!*^+]*)(?:=(.*))?$/

interface Line {
  readonly table: string
  readonly columns: readonly RegExpExecArray[]
}

function linesOf(schema: string): Line[] {
  const lines = schema.trim().split('\n')
  return lines.map((line) => {
    const [table = '', columns = ''] = line.trim().split(/: (.*)/s)
    return { table, columns: wordsOf(columns).map(matched) }
  })
}

/** The values of an enum may contain spaces. */
function wordsOf(text: string): string[] {
  return text.match(/(?:\([^)]*\)|[^\s(])+/g) ?? []
}

function matched(column: string): RegExpExecArray {
  const match = COLUMN.exec(column)
  if (!match) throw new Error(`no column: ${column}`)
  return match
}

export function defineSchema(sequelize: Sequelize, schema: string): void {
  const models = new Map<string, ModelStatic<Model>>()
  for (const { table, columns } of linesOf(schema)) {
    const indexes = columns.flatMap(([, name = '', , , , , marks = '']) =>
      marks.includes('+') ? { fields: [name] } : [],
    )
    const attributes = Object.fromEntries(
      columns.map(([, name = '', length, type, target, values, marks = '', value]) => [
        name,
        {
          type: typeOf(length, type, values, target === undefined ? undefined : models.get(target)),
          ...(marks.includes('!') ? { allowNull: false } : {}),
          ...(marks.includes('*') ? { primaryKey: true } : {}),
          ...(marks.includes('^') ? { unique: true } : {}),
          ...(value === undefined ? {} : { defaultValue: valueOf(value) }),
        },
      ]),
    )
    // Not of sequelize-typescript, which maps classes.
    const model: ModelStatic<Model> = Sequelize.prototype.define.call(sequelize, table, attributes, {
      timestamps: false,
      freezeTableName: true,
      indexes,
    })
    models.set(table, model)
    for (const [, name = '', , , target, , marks = ''] of columns) {
      if (target === undefined) continue
      const allowNull = !/[!*]/.test(marks)
      model.belongsTo(models.get(target) ?? model, { foreignKey: { name, allowNull }, as: `${name}_row` })
    }
  }
}

function typeOf(
  length: string | undefined,
  type: string | undefined,
  values: string | undefined,
  target: ModelStatic<Model> | undefined,
): ModelAttributeColumnOptions['type'] {
  if (values !== undefined) return DataTypes.ENUM(...values.split('|'))
  const key = target?.getAttributes()[target.primaryKeyAttribute]
  if (key) return key.type
  if (type === undefined) return length === undefined ? DataTypes.INTEGER : DataTypes.STRING(Number(length))
  return TYPES[type] ?? DataTypes.STRING
}

function valueOf(text: string): ModelAttributeColumnOptions['defaultValue'] {
  if (text === 'now') return literal('CURRENT_TIMESTAMP')
  if (text === 'true' || text === 'false') return text === 'true'
  return text !== '' && Number.isFinite(Number(text)) ? Number(text) : text
}
