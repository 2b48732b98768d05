import type { Model, ModelStatic } from 'sequelize'
import * as pg from 'pg'
import { DatabaseStartError } from '../../errors.js'
import { columnShape } from '../../models/column-shape.js'

/**
 * pg returns integers of 64 bits as strings. In an attribute that is declared as a number, `hero.age + 1` of age 5 would be saved as 51. CockroachDB makes
 * such columns of INTEGER and SERIAL.
 *
 * @throws DatabaseStartError that names the columns of the model's table that are wider than their attributes.
 */
export function refuseBigIntegers(model: ModelStatic<Model>, typeOf: (column: string) => string | undefined): void {
  if (typeof pg.types.getTypeParser(pg.types.builtins.INT8)('1') !== 'string') return // the program has its own parser
  const columns = Object.entries(model.getAttributes())
    .filter(([name, { type, field = name }]) => typeOf(field) === 'BIGINT' && columnShape({ type }).kind === 'integer')
    .map(([name, { field = name }]) => `${field} (${model.name}.${name})`)
  if (columns.length === 0) return
  throw new DatabaseStartError(
    `These columns of the table ${model.tableName} are BIGINT, whose values are strings, but their attributes are declared as numbers: ` +
      `${columns.join(', ')}. Declare them as DataType.BIGINT, or make the columns INTEGER. CockroachDB creates BIGINT columns for INTEGER and SERIAL: write INT4 there.`,
  )
}
