import type { Model } from 'sequelize'
import { modelInternals, modelOf } from '../sequelize/internals.js'
import { generated, keyConditions, planOf, toWhere } from './model-plan.js'
import { withLiterals } from './literals.js'
import { mayCompileDestroy } from './may-compile.js'
import type { Values } from './compiled-save.js'
import type { CompiledStatement } from '../direct-statement.js'

/** The DELETE of a row by its key, as destroy() of Sequelize sends it. Undefined if Sequelize must send it. */
export function deleteStatement(instance: Model): CompiledStatement<unknown> | undefined {
  const model = modelOf(instance)
  if (!mayCompileDestroy(model, instance)) return undefined
  const plan = planOf(model)
  const conditions = keyConditions(model, plan, instance.dataValues as Values) // an instance of any model
  if (!conditions) return undefined
  const { shape, values } = conditions
  const statement = generated(plan, 'delete', () =>
    modelInternals(model).queryGenerator.deleteQuery(model.getTableName(), toWhere(plan, shape), {}, model),
  )
  const { sql } = statement
  // Sequelize returns the rows of PostgreSQL, of which there are none.
  const returnsRows = model.sequelize?.getDialect() === 'postgres'
  const read = ({ rows }: { readonly rows: unknown[] }) => (returnsRows ? rows : instance)
  return plan.hasLiterals
    ? { sql: withLiterals(model, sql, values), generated: statement, values: [], form: 'constant', instance, read }
    : { sql, generated: statement, values, form: 'constant', instance, read }
}
