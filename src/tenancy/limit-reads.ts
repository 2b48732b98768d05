import { type Model, type ModelStatic, Utils } from 'sequelize'
import { TenancyError } from './errors.js'
import type { StatementLimits, StatementOptions } from './statement-limits.js'
import type { JoinSql, QueryGenerator } from '../db/sequelize/query-generator.js'

/** Adds the condition of the tenant to each SELECT, and to each join in it. */
export function limitReads(limits: StatementLimits): void {
  limitSelects(limits)
  limitJoins(limits)
  checkExpressions(limits)
}

function limitSelects(limits: StatementLimits): void {
  const { generator, tables } = limits
  const { selectQuery } = generator
  generator.selectQuery = (table, options: StatementOptions = {}, model) =>
    limits.generate(options, () => {
      if (Array.isArray(table) && tables.hasSome(table))
        throw new TenancyError('A statement with several tables cannot be limited to a tenant.')
      const where = Array.isArray(table)
        ? options.where
        : limits.limitedWhere(table, options.where, aliasOf(generator, options, table, model))
      // Sequelize reads some options again when it has the rows: they stay those of this object.
      const limited = where === options.where ? options : Object.assign(options, { where })
      const write = () => selectQuery.call(generator, table, limited, model)
      limits.addSelects(hasSubquery(options) ? 2 : 1)
      const groups = options.groupedLimit?.values.length
      return groups === undefined ? write() : limits.repeated(groups, () => (limits.addSelects(1), write()))
    })
}

function aliasOf(generator: QueryGenerator, { tableAs }: StatementOptions, table: unknown, model: unknown): string {
  if (typeof tableAs === 'string') return generator.quoteIdentifier(tableAs)
  return typeof model === 'function' ? generator.quoteIdentifier(model.name) : generator.quoteTable(table)
}

/** Whether Sequelize selects the rows of the model inside, and joins the others outside. */
function hasSubquery({ subQuery, limit, hasMultiAssociation }: StatementOptions): boolean {
  return Boolean(subQuery === undefined ? limit && hasMultiAssociation : subQuery)
}

function limitJoins(limits: StatementLimits): void {
  const { generator } = limits
  const { generateJoin, generateThroughJoin } = generator
  generator.generateJoin = (include, ...rest) => {
    const join = generateJoin.call(generator, include, ...rest)
    return limitedJoin(limits, join, include.right, [
      [include.model, join.body.slice(join.body.lastIndexOf(' AS ') + ' AS '.length)],
    ])
  }
  generator.generateThroughJoin = (include, names, ...rest) => {
    const join = generateThroughJoin.call(generator, include, names, ...rest)
    const target = names.internalAs
    return limitedJoin(limits, join, include.right, [
      [include.model, generator.quoteIdentifier(target)],
      [include.through.model, generator.quoteIdentifier(`${target}->${include.through.as}`)],
    ])
  }
}

/** A table that is joined, with its alias as SQL quotes it. */
type Joined = readonly [model: ModelStatic<Model>, alias: string]

function limitedJoin(
  limits: StatementLimits,
  join: JoinSql,
  isRight: boolean | undefined,
  tables: readonly Joined[],
): JoinSql {
  const conditions = tables.flatMap(([model, alias]) => limits.conditionOf(model.getTableName(), alias) ?? [])
  if (conditions.length === 0) return join
  if (isRight) throw new TenancyError('An include with right: true returns rows of all tenants. Remove it.')
  return { ...join, condition: [`(${join.condition})`, ...conditions].join(' AND ') }
}

function checkExpressions(limits: StatementLimits): void {
  const { generator } = limits
  const { handleSequelizeMethod, _whereParseSingleValueObject: parseValue } = generator
  generator.handleSequelizeMethod = (method, ...rest) => {
    const sql = handleSequelizeMethod.call(generator, method, ...rest)
    limits.checkExpression(sql)
    return sql
  }
  generator._whereParseSingleValueObject = (key, field, operator, value, options) => {
    const sql = parseValue.call(generator, key, field, operator, value, options)
    if (value instanceof Utils.SequelizeMethod) limits.checkExpression(sql)
    return sql
  }
}
